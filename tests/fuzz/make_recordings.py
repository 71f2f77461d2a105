#!/usr/bin/env python3
"""Writes the small recordings of tests/fuzz/corpus/recording: a database of each kind and what
rocprofv3 writes as text. Each begins with the byte that tests/fuzz/recording_fuzz.cpp asks for.

    make_recordings.py FOLDER
"""

import json
import pathlib
import sqlite3
import sys
import tempfile

NSYS = """
CREATE TABLE StringIds (id INT, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm<float>'), (2, 'cudaLaunchKernel_v7000'),
  (3, 'aten::mm, seq = 4, op_id = 9, sizes = [[64, 32], [32, 16]]');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT, streamId INT,
  correlationId INT, globalPid INT, demangledName INT, graphNodeId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 800, 0, 7, 5, 167772160, 1, NULL),
  (900, 950, 0, 7, 6, 167772160, 1, 3);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, "end" INT, globalTid INT, correlationId INT,
  nameId INT);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 167772170, 5, 2), (210, 250, 167772170, 6, 2);
CREATE TABLE NVTX_EVENTS (start INT, "end" INT, eventType INT, text TEXT, textId INT,
  globalTid INT, domainId INT);
INSERT INTO NVTX_EVENTS VALUES (90, 260, 59, NULL, 3, 167772170, 0), (80, NULL, 60, 'step', NULL,
  167772170, 0);
"""
MORE = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, "end" INT, deviceId INT, streamId INT,
  correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (960, 990, 0, 7, 8, 167772160, 4096, 1, 0, 2);
CREATE TABLE NVTX_EVENTS (start INT, "end" INT, eventType INT, text TEXT, domainId INT,
  globalTid INT, binaryData BLOB);
INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, 'NCCL', 2, 167772170, NULL), (10, 20, 59, 'ncclAllReduce', 2,
  167772170, x'00000000000000000700000000000000080000000000000028000000000000000200000001000000');
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId INT, type INT, name TEXT, offset INT);
INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (7, 5, 'No. of ranks', NULL), (7, 5, 'Rank', 4);
CREATE TABLE StringIds (id INT, value TEXT);
"""
ROCPD = """
CREATE TABLE rocpd_string_a1 (id INT, string TEXT);
INSERT INTO rocpd_string_a1 VALUES (1, 'HIP_RUNTIME_API_EXT'), (2, 'hipLaunchKernel'),
  (3, 'MARKER_CORE_RANGE_API'), (4, 'roctxRangePushA'), (5, 'HSA_CORE_API');
CREATE TABLE rocpd_event_a1 (id INT, category_id INT, stack_id INT, parent_stack_id INT, extdata TEXT);
INSERT INTO rocpd_event_a1 VALUES (1, 1, 7, 0, '{}'), (2, 3, 6, 0,
  '{"message": "aten::mm, seq = 1, sizes = [[2]]"}'), (3, 6, 9, 8, '{}'), (4, 5, 9, 7, '{}');
CREATE TABLE rocpd_region_a1 (pid INT, tid INT, start INT, "end" INT, name_id INT, event_id INT);
INSERT INTO rocpd_region_a1 VALUES (10, 11, 100, 200, 2, 1), (10, 11, 90, 210, 4, 2), (10, 11, 110, 120, 2, 4);
CREATE TABLE rocpd_kernel_dispatch_a1 (pid INT, start INT, "end" INT, agent_id INT, kernel_id INT,
  queue_id INT, stream_id INT, event_id INT, grid_size_x INT, workgroup_size_x INT);
INSERT INTO rocpd_kernel_dispatch_a1 VALUES (10, 300, 800, 2, 1, 1, 0, 3, 1000, 64),
  (10, 900, 950, 2, 1, 2, 0, 3, 1000, 64);
"""
JSON = {"rocprofiler-sdk-tool": [{
    "metadata": {"pid": 7, "command": ["python3"], "environment": {"RANK": "1"}},
    "agents": [{"id": {"handle": 2}, "type": 2, "logical_node_type_id": 0, "name": "gfx942"}],
    "strings": {"buffer_records": [{"kind": "HIP_RUNTIME_API_EXT", "operations": ["hipLaunchKernel"]},
                                   {"kind": "MARKER_CORE_API", "operations": ["roctxRangePushA"]}],
                "marker_api": [{"key": 2, "value": "step 0"}]},
    "kernel_symbols": [{"kernel_id": 5, "formatted_kernel_name": "gemm.kd"}],
    "buffer_records": {
        "hip_api": [{"kind": 0, "operation": 0, "thread_id": 7, "start_timestamp": 10, "end_timestamp": 20,
                     "correlation_id": {"internal": 3, "external": 0, "ancestor": 0}}],
        "marker_api": [{"kind": 1, "operation": 0, "thread_id": 7, "start_timestamp": 5,
                        "end_timestamp": 40, "correlation_id": {"internal": 2}}],
        "kernel_dispatch": [{"start_timestamp": 30, "end_timestamp": 50, "stream_id": {"handle": 1},
                             "correlation_id": {"internal": 3},
                             "dispatch_info": {"agent_id": {"handle": 2}, "queue_id": {"handle": 1},
                                               "kernel_id": 5, "dispatch_id": 1,
                                               "grid_size": {"x": 128, "y": 1, "z": 1},
                                               "workgroup_size": {"x": 64, "y": 1, "z": 1}}}]}}]}
KERNELS = ('"Kind","Agent_Id","Queue_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
           '"KERNEL_DISPATCH","Agent 4",1,"gemm(float*).kd",3,30,50\n')
CALLS = ('"Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
         '"HIP_RUNTIME_API_EXT","hipLaunchKernel",5,5,3,10,20\n"MARKER_CORE_API","step 0",5,5,1,5,40\n')


def database(sql):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made"
        db = sqlite3.connect(path)
        db.executescript("PRAGMA page_size=512;" + sql)
        db.commit()
        db.close()
        return path.read_bytes()


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, kind, data in (("nsys", b"d", database(NSYS)), ("nsys_more", b"d", database(MORE)),
                             ("rocpd", b"d", database(ROCPD)),
                             ("results", b"j", json.dumps(JSON).encode()),
                             ("kernels", b"c", KERNELS.encode()), ("calls", b"c", CALLS.encode()),
                             ("any", b"x", database(NSYS))):
        (folder / name).write_bytes(kind + data)


if __name__ == "__main__":
    main()
