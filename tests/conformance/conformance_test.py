#!/usr/bin/env python3
"""Holds our servers to the official conformance suite: the one with fixtures passes everything, the
product all but what needs fixtures, by a list that can only become shorter."""

import unittest

import conformance
from support import npm


class Conformance(unittest.TestCase):
    def test_with_fixtures(self):
        for outcome in conformance.run_fixture():
            with self.subTest(outcome.name):
                print(outcome.line())
                self.assertEqual(outcome.failed, [])
                self.assertEqual(outcome.code, 0, outcome.text[-2000:])
                self.assertGreaterEqual(outcome.passed, conformance.PASSED[outcome.name])

    def test_product(self):
        for outcome in conformance.run_product():
            with self.subTest(outcome.name):
                print(outcome.line(), "(expected ones among them)")
                # Unexpected failures and entries that do not fail any more end it with 1.
                self.assertEqual(outcome.code, 0, outcome.text[-3000:])


if __name__ == "__main__":
    try:
        npm.install()
    except npm.Unavailable as unavailable:
        npm.skip(unavailable)
    unittest.main()
