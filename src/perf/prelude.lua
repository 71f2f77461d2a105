-- What the expressions of model rows can use, and how a row is evaluated. Runs once in each
-- sandbox; returns define(), evaluate(), quantity() and check(). The expressions themselves see only the names
-- that this file hands out: no library, no globals, no files.
--
-- A row is a set of named quantities. A quantity is evaluated when something asks for it, once a
-- call, by name: a row that overrides a quantity changes all that is computed from it. Parameters
-- are exact integers where the trace has integers; costs (FLOPs, bytes) are computed in doubles, so
-- that no product can wrap around.
local host, setmetatable, getmetatable, error, pcall, rawget, load, type, next, tostring, math, plans = ...
local math_type = math.type
local is_integer = function(v) return math_type(v) == "integer" end
-- A value in a message. Never an address: the same input gives the same text.
local function shown(v)
  if type(v) == "table" then return (getmetatable(v) or {}).__name or "table" end
  return type(v) == "function" and "function" or tostring(v)
end

-- Failures ----------------------------------------------------------------------------------------
-- kind: "failed" (the arguments do not fit the model), "not_modelled" (the model says that it has
-- nothing to say about this call).
local function fail(why) error({kind = "failed", why = why}, 0) end
local function broken(why) error({kind = "broken", why = why}, 0) end
local function not_modelled(why) error({kind = "not_modelled", why = why or "not modelled"}, 0) end

-- Values ------------------------------------------------------------------------------------------
-- null: known to be absent. Arithmetic with null gives null; indexing it fails.
local null = {}
local function to_null() return null end
setmetatable(null, {
  __add = to_null, __sub = to_null, __mul = to_null, __div = to_null, __idiv = to_null,
  __mod = to_null, __unm = to_null, __pow = to_null,
  __index = function(_, i)
    if i == "n" then return false end
    fail("asked for [" .. shown(i) .. "] of something that was not recorded")
  end,
  __newindex = function() fail("a value cannot be changed") end,
  __name = "null",
})
-- absent: a parameter marked "?" with this value is left out of the list.
local absent = setmetatable({}, {
  __index = function(_, i) if i == "n" then return false end end,
  __newindex = function() fail("a value cannot be changed") end,
  __name = "absent",
})
-- Both have no member of their own: one that is there could be set, and all rows share them.

-- Sequences count from 0 and know their length; t[-1] is the last item, as in Python.
local Tuple, List = {__name = "tuple"}, {__name = "list"}
local function item(t, i)
  if math.type(i) == "float" then i = math.tointeger(i) or fail("an index must be a whole number") end
  if not is_integer(i) then fail("there is no member " .. shown(i)) end
  local at = i < 0 and i + t.n or i
  local v = rawget(t, at)
  if v == nil then fail("there is no item " .. i .. " in a list of " .. t.n) end
  return v
end
-- Also called for "x == null"; null and absent have false for their length.
local function same(a, b)
  if a.n ~= b.n then return false end
  for i = 0, a.n - 1 do if a[i] ~= b[i] then return false end end
  return true
end
for _, kind in next, {Tuple, List} do
  kind.__index = item
  kind.__len = function(t) return t.n end
  kind.__eq = same
end
host.sequences(Tuple, List)
local is_sequence = host.is_sequence
local tuple = host.tuple
local function list(...) return setmetatable(tuple(...), List) end
local function need_sequence(v, what)
  if not is_sequence(v) then fail(what .. " needs a list, not " .. shown(v)) end
  return v
end
local function map(t, f)
  need_sequence(t, "map")
  local out = {n = t.n}
  for i = 0, t.n - 1 do out[i] = f(t[i], i) end
  return setmetatable(out, Tuple)
end
local function filter(t, f)
  need_sequence(t, "filter")
  local out = {n = 0}
  for i = 0, t.n - 1 do
    if f(t[i], i) then out[out.n] = t[i]; out.n = out.n + 1 end
  end
  return setmetatable(out, Tuple)
end
local function fold(t, f, init)
  need_sequence(t, "fold")
  for i = 0, t.n - 1 do init = f(init, t[i]) end
  return init
end
local function sum(t) return fold(t, function(a, b) return a + b end, 0) end
-- 0, 1, ... n - 1
local function range(n)
  local out = {n = n > 0 and n or 0}
  for i = 0, n - 1 do out[i] = i end
  return setmetatable(out, Tuple)
end
-- Prints in square brackets.
local function as_list(t)
  local out = {n = need_sequence(t, "as_list").n}
  for i = 0, out.n - 1 do out[i] = t[i] end
  return setmetatable(out, List)
end
local function slice(t, from, to)
  need_sequence(t, "slice")
  to = to or t.n
  if from < 0 then from = from + t.n end
  if to < 0 then to = to + t.n end
  if from < 0 then from = 0 end
  if to > t.n then to = t.n end
  local out = {n = 0}
  for i = from, to - 1 do out[out.n] = t[i]; out.n = out.n + 1 end
  return setmetatable(out, Tuple)
end
-- As long as both, of the kind of the first.
local function join(a, b)
  need_sequence(a, "join"); need_sequence(b, "join")
  local out = {n = 0}
  for _, t in next, {a, b} do
    for i = 0, t.n - 1 do out[out.n] = t[i]; out.n = out.n + 1 end
  end
  return setmetatable(out, getmetatable(a))
end
local has = host.has  -- a sequence with more items than i
local non_empty = host.non_empty
local default = host.default
-- t[i], or `other` when there is no such item or it is null.
local at = host.at

-- Arithmetic --------------------------------------------------------------------------------------
local exact = 2 ^ 53
-- Number of elements of a shape; of [] it is 1. What is wrong with a shape, or too large for a whole
-- number; the host tells the others.
local function uncommon_el(shape)
  need_sequence(shape, "the number of elements")
  local product = 1.0
  for i = 0, shape.n - 1 do
    local d = shape[i]
    if math.type(d) == nil then fail("a dimension is not a number") end
    if d % 1 ~= 0 then fail("a dimension is not a whole number") end
    if d < 0 then fail("a dimension is negative") end
    product = product * d
  end
  if product > exact then fail("a tensor of more than 2^53 elements") end
  return math.tointeger(product) or product
end
local el = host.elements(uncommon_el, false)
local function product(...)
  local p = 1
  for _, v in next, {...} do
    if v == null then return null end
    if is_integer(p) and is_integer(v) and (p == 0 or (math.abs(v) < exact and math.abs(p * 1.0 * v) < exact)) then
      p = p * v
    else
      p = p * 1.0 * v
    end
  end
  return p
end
local function ceildiv(a, b)
  if a == null or b == null then return null end
  if b == 0 then fail("division by 0") end
  return -(-a // b)
end
local function idiv(a, b)
  if a == null or b == null then return null end
  if b == 0 then fail("division by 0") end
  return a // b
end
local function div(a, b)
  if a == null or b == null then return null end
  if b == 0 then fail("division by 0") end
  return a / b
end
local function trunc(v)
  if v == null then return null end
  local whole = v >= 0 and math.floor(v) or math.ceil(v)
  return math.tointeger(whole) or whole
end
-- Mostly of two.
local function fewest(a, b, ...)
  if a ~= null and b ~= nil and (b == null or b < a) then a = b end
  if ... == nil then return a end
  return fewest(a, ...)
end
local function most(a, b, ...)
  if a ~= null and b ~= nil and (b == null or b > a) then a = b end
  if ... == nil then return a end
  return most(a, ...)
end
-- The shape of a result, by NumPy's rule: aligned at the right, 1 stretches.
local broadcast = host.broadcasting(function(a, b)
  need_sequence(a, "broadcast"); need_sequence(b, "broadcast")
  local n = a.n > b.n and a.n or b.n
  local out = {n = n}
  for i = 0, n - 1 do
    local x = i < n - a.n and 1 or a[i - (n - a.n)]
    local y = i < n - b.n and 1 or b[i - (n - b.n)]
    if x ~= y and x ~= 1 and y ~= 1 then fail("shapes that do not broadcast") end
    out[i] = x == 1 and y or x
  end
  return setmetatable(out, Tuple)
end)
-- Number of elements of a tensor that lie at places of their own: an expanded dimension has
-- stride 0 and counts once. Strides that are not known change nothing.
local function uncommon_distinct(shape, stride)
  if not is_sequence(stride) or stride.n ~= shape.n then return el(shape) end
  local own = {n = 0}
  for i = 0, shape.n - 1 do
    if stride[i] ~= 0 or shape[i] == 0 then own[own.n] = shape[i]; own.n = own.n + 1 end
  end
  return el(setmetatable(own, Tuple))
end
local distinct = host.elements(uncommon_distinct, false)
-- Expected number of distinct experts that n tokens hit, each picking k of E evenly.
local function experts_hit(E, k, n)
  if E == 0 then fail("no experts") end
  return E * (1 - ((E - k) / E) ^ n)
end

-- Text --------------------------------------------------------------------------------------------
-- Arguments that are not tensors are recorded as the text Python prints.
local function int(text) local v = host.int(text); if v == nil then fail("not a whole number: \"" .. shown(text) .. "\"") end return v end
local function float(text) local v = host.float(text); if v == nil then fail("not a number: \"" .. shown(text) .. "\"") end return v end
local function int_or(text, other) if text == null then return other end local v = host.int(text); if v == nil then return other end return v end
local function float_or(text, other) if text == null then return other end local v = host.float(text); if v == nil then return other end return v end
-- "[1, 2]": the integers; fails on anything else.
local function ints(text)
  local v = host.ints(text)
  if v == nil then fail("not a list of whole numbers: \"" .. shown(text) .. "\"") end
  return v
end
-- "[2., 0.5]": the numbers.
local function floats(text)
  local v = host.floats(text)
  if v == nil then fail("not a list of numbers: \"" .. shown(text) .. "\"") end
  return v
end
-- "[True, False]": the booleans.
local function bools(text)
  local v = host.bools(text)
  if v == nil then fail("not a list of True and False: \"" .. shown(text) .. "\"") end
  return v
end
-- "True", "False" or a whole number; fails on anything else.
local function bool(text)
  if text == "True" then return true end
  if text == "False" then return false end
  return int(text) ~= 0
end
local function lower(text) return type(text) == "string" and host.lower(text) or fail("not a text") end
-- What follows `marker` in the first of the texts that has it, up to one of the characters of
-- `stops`: between(kernels, "OpaqueType<", "u>") is "2" for a kernel that copies 2-byte elements.
local function between(texts, marker, stops)
  if not is_sequence(texts) then return null end
  for i = 0, texts.n - 1 do
    local part = host.between(texts[i], marker, stops)
    if part ~= nil then return part end
  end
  return null
end
local function is_true(text) return type(text) == "string" and host.lower(text) == "true" end

-- Dtypes ------------------------------------------------------------------------------------------
-- The names PyTorch records, and those of the serving libraries (dtype.h).
local bp, kind_of, precision_of, promote = host.bp, host.kind_of, host.precision_of, host.promote
-- Bytes an element; fails where that is not known.
local function sized(dtype)
  local size = bp(dtype)
  if size == null then fail("unknown dtype \"" .. shown(dtype) .. "\"") end
  return size
end
-- A dtype table of a rule set: keys in lower case.
local function in_table(t, dtype)
  if type(dtype) ~= "string" then return null end
  local v = t[host.lower(dtype)]
  return v == nil and null or v
end

local words = {
  null = null, absent = absent, fail = fail, not_modelled = not_modelled,
  tuple = tuple, list = list, map = map, filter = filter, fold = fold, sum = sum, range = range, as_list = as_list,
  slice = slice, join = join,
  has = has, non_empty = non_empty, default = default, at = at, is_sequence = is_sequence,
  el = el, product = product, ceildiv = ceildiv, idiv = idiv, div = div, trunc = trunc,
  floor = math.floor, ceil = math.ceil, sqrt = math.sqrt, abs = math.abs, min = fewest, max = most,
  broadcast = broadcast, experts_hit = experts_hit, distinct = distinct, promote = promote, kind_of = kind_of,
  int = int, float = float, int_or = int_or, float_or = float_or, ints = ints, floats = floats, bools = bools,
  bool = bool, lower = lower, is_true = is_true,
  contains = host.contains, starts = host.starts, after = host.after, between = between,
  bp = bp, sized = sized, precision_of = precision_of, in_table = in_table,
  is_text = function(v) return type(v) == "string" end,
  is_bool = function(v) return type(v) == "boolean" end,
  is_int = is_integer,
  is_number = function(v) return type(v) == "number" end,
}

-- Numbers as doubles, deep in sequences too: what costs are computed from.
local floated = host.floated
local float_words = {}
for k, v in next, words do float_words[k] = v end
for _, k in next, {"ceildiv", "idiv", "trunc", "floor", "ceil", "int", "int_or"} do
  local f = words[k]
  float_words[k] = function(a, b) return floated(f(a, b)) end
end
float_words.el = host.elements(uncommon_el, true)
float_words.distinct = host.elements(uncommon_distinct, true)
float_words.product = function(...) return floated(product(...)) end
local make_plan = plans(host, load, next, words, float_words)

-- Rows --------------------------------------------------------------------------------------------
local rows = {}
-- texts: quantity -> expression; lists: name -> sequence of "key", "key?" or "key=expression".
local function define(model, texts, lists)
  local row = {model = model, texts = texts, lists = lists, compiled = {}, parameters = {}, entries = {}, functions = {}}
  -- Nobody has looked at the rows of others: theirs may go on behind a function's end.
  if host.trusted() then
    for key, text in next, texts do
      if host.starts(text, "function(") then row.functions[key] = true end
    end
  end
  for name, list_of in next, lists do
    local entries = {n = list_of.n}
    for i = 0, list_of.n - 1 do
      local key, optional, text = host.key(list_of[i])
      row.parameters[key] = true
      entries[i] = {key = key, optional = optional, text = text}
    end
    row.entries[name] = entries
  end
  rows[model] = row
end

local function compile(row, key, text)
  local f, why = load("local _ENV = ...; return " .. text, "=" .. row.model .. "." .. key, "t")
  return f or broken(why)
end
local function definition(row, key)
  local f = row.compiled[key]
  if f == nil then
    local text = row.texts[key]
    if text == nil then return nil end
    f = compile(row, key, text)
    row.compiled[key] = f
  end
  return f
end

-- A box is where the quantities of a row are evaluated: of one call at a time, and of the next one
-- when it is given back, as making it costs more than most calls. env is what expressions see: it
-- is empty, so that they can write nothing, and shows what the cache knows; the cache evaluates what
-- it does not know. A quantity that is a function reads env when it is called, so that it is the
-- same for every call and stays.
local take, give_back
local function new_box(row, costs, for_given)
  local library = costs and float_words or words
  local texts, compiled, parameters = row.texts, row.compiled, row.parameters
  local stays = not for_given and row.functions or {}
  local cache, busy, touched, count, kept = {}, {}, {}, 0, {n = 0}
  -- base: the env of the parameters, when this box is for costs.
  local call, base, given, forward, forward_costs
  local env = setmetatable({}, {
    __index = cache,
    __newindex = function() fail("a value cannot be changed") end,
  })
  for word, v in next, library do
    if texts[word] == nil and not parameters[word] then cache[word] = v end
  end
  -- The forward call's own quantities.
  local function forward_of()
    if forward == nil then
      local model, handle = host.forward(call)
      if model == nil then fail("its forward call is not known") end
      forward = take(rows[model], handle)
      if costs then forward_costs = take(rows[model], handle, forward.env) end
    end
    return (forward_costs or forward).env
  end
  -- What a call brings: dims, types, strides, text, kernels, name, extra(key), forward...
  local function input(key)
    if type(key) ~= "string" then error({kind = "broken", why = "a quantity has a name"}, 0) end
    if key == "forward" then return forward_of() end
    if key == "extra" then
      local of = call
      return function(name) return host.extra(of, name) end
    end
    local v = host.input(call, key)
    if v == nil then error({kind = "broken", why = "no quantity " .. key .. " in " .. row.model}, 0) end
    return v
  end
  setmetatable(cache, {__index = function(_, key)
    local v
    if given ~= nil then v = host.given(given, key) end
    if v ~= nil then
      if base ~= nil then v = floated(v) end
    elseif base ~= nil and parameters[key] then
      v = floated(base[key])
    else
      local f = compiled[key]
      if f == nil and texts[key] ~= nil then f = definition(row, key) end
      if f ~= nil then
        if busy[key] then error({kind = "broken", why = row.model .. "." .. key .. " depends on itself"}, 0) end
        busy[key] = true
        v = f(env)
        busy[key] = nil
        if stays[key] then
          cache[key] = v
          kept.n = kept.n + 1
          kept[kept.n] = key
          return v
        end
      else
        v = library[key]
        if v == nil then
          v = input(key)
          if base ~= nil then v = floated(v) end
        end
      end
    end
    if v == nil then fail(key .. " has no value") end
    cache[key] = v
    count = count + 1
    touched[count] = key
    return v
  end})
  local box = {row = row, env = env, free = costs and "free_costs" or "free"}
  if for_given then box.free = box.free .. "_given" end
  function box.open(of, parameters_env, values) call, base, given = of, parameters_env, values end
  function box.close()
    for i = 1, count do cache[touched[i]] = nil end
    count = 0
    for key in next, busy do busy[key] = nil end
    if forward_costs ~= nil then give_back(forward_costs) end
    if forward ~= nil then give_back(forward) end
    call, base, given, forward, forward_costs = nil, nil, nil, nil, nil
  end
  -- What the call asked for, and functions that an earlier one asked for.
  function box.asked()
    local keys = {n = count + kept.n}
    for i = 1, count do keys[i] = touched[i] end
    for i = 1, kept.n do keys[count + i] = kept[i] end
    return keys
  end
  return box
end

-- base: the env of the parameters, for a box of costs. given: a handle of values that stand in for
-- the row's own quantities, or nil; those may be any, functions among them.
function take(row, call, base, given)
  local costs = base ~= nil
  local free = costs and "free_costs" or "free"
  if given ~= nil then free = free .. "_given" end
  local box = row[free]
  if box == nil then
    box = new_box(row, costs, given ~= nil)
  else
    row[free] = box.next
  end
  box.open(call, base, given)
  return box
end
function give_back(box)
  box.close()
  local row, free = box.row, box.free
  box.next = row[free]
  row[free] = box
end

local function explain(e)
  if type(e) == "table" and e.kind then return e.kind, e.why ~= nil and e.why ~= "" and shown(e.why) or "no reason given" end
  return "failed", host.reason(tostring(e))
end

-- A number of work, or nil: null, infinite and not-a-number are absent.
local function amount(v)
  if v == null then return nil end
  if type(v) ~= "number" then broken("not a number") end
  v = v + 0.0
  if v ~= v or v == math.huge or v == -math.huge then return nil end
  if v < 0 then fail("less than no work: the arguments do not fit") end
  return v
end

-- The answer of the last call; each is read before the next.
local out = {params = {}, names = {}}

local function set_parameters(row, env)
  if definition(row, "check") then local _ = env.check end
  local which = definition(row, "params_list") and env.params_list or "params"
  local entries = row.entries[which]
  out.which = which
  if entries == nil then
    if which ~= "params" then broken("no list of parameters is called " .. shown(which)) end
    return
  end
  local params, names, count = out.params, out.names, 0
  for i = 0, entries.n - 1 do
    local entry = entries[i]
    local key, text = entry.key, entry.text
    local v
    if text ~= nil then
      local made = entry.made
      if made == nil then
        made = compile(row, key, text)
        entry.made = made
      end
      v = made(env)
    else
      v = env[key]
    end
    local known = is_sequence(v) or v == null or v == absent
    if type(v) == "function" or type(v) == "table" and not known then broken(key .. " is no number, text or sequence") end
    if not (entry.optional and v == absent) then
      count = count + 1
      names[count], params[count] = key, v
    end
  end
  out.count = count
end
local function cost(env, key) return amount(env[key]) end
local function spec(env)
  local unit, precision = env.unit, env.precision
  if unit ~= null and unit ~= "" and precision ~= null and precision ~= "" then
    return unit .. "_" .. precision
  end
  return ""
end
-- f(a, b), or nil and the first reason kept: each stage for itself, as what one cannot tell another
-- may.
local function attempt(stage, f, a, b)
  local ok, v = pcall(f, a, b)
  if ok then return v, true end
  if out.stage == nil then
    out.stage = stage
    out.kind, out.why = explain(v)
  end
  return nil, false
end

-- A plan's function of a call, with boxes of its own for what it does not have.
local function planned(row, plan)
  local box, costs = new_box(row, false, false), new_box(row, true, false)
  return function(call)
    -- The call before may have failed.
    box.close(); costs.close()
    box.open(call); costs.open(call, box.env)
    return plan(box.env, costs.env, call)
  end
end

-- The answer; `wants_plan`: and a function that answers further calls (see plan.lua) with the name of
-- its list of parameters, if the call went well and there is one.
local function evaluate(model, call, backward, wants_plan)
  local row = rows[model]
  out.count, out.spec, out.flops, out.bytes, out.stage, out.kind, out.why = 0, "", nil, nil, nil, nil, nil
  local box, plan = take(row, call), nil
  local _, ok = attempt("params", set_parameters, row, box.env)
  if ok then
    local costs = take(row, call, box.env)
    out.flops = attempt("flops", cost, costs.env, backward and "backward_flops" or "flops")
    out.bytes = attempt("bytes", cost, costs.env, backward and "backward_bytes" or "bytes")
    out.spec = attempt("compute", spec, box.env) or ""
    if wants_plan and out.stage == nil then
      plan = make_plan(row, out.which, backward, box.asked(), costs.asked())
    end
    give_back(costs)
  end
  give_back(box)
  return out, plan and planned(row, plan), out.which
end

local amounts = {flops = true, bytes = true, backward_flops = true, backward_bytes = true}
-- One quantity, where the values of `given` stand in for others: the value, or nil, kind, reason.
local function quantity(model, call, given, key)
  local row = rows[model]
  local box = take(row, call, nil, given)
  local costs = amounts[key] and take(row, call, box.env, given)
  local ok, v = pcall(function()
    return costs and (amount(costs.env[key]) or null) or box.env[key]
  end)
  if costs then give_back(costs) end
  give_back(box)
  if ok then return v end
  return nil, explain(v)
end

-- Compiles a row's own expressions (those that it inherits are another row's) and forgets the row
-- again; returns the first that does not compile, with the reason.
local function check(model, own)
  local row = rows[model]
  rows[model] = nil
  local function why_not(key, text)
    local ok, e = pcall(compile, row, key, text)
    local _, why = explain(e)
    return not ok and why
  end
  for key in next, own do
    local why = why_not(key, row.texts[key])
    if why then return key, why end
  end
  for _, names in next, row.lists do
    for i = 0, names.n - 1 do
      local key, _, text = host.key(names[i])
      local why
      if text ~= nil then
        why = why_not(key, text)
      elseif row.texts[key] == nil and words[key] == nil and not host.is_input(key) then
        why = "a parameter without a definition"
      end
      if why then return key, why end
    end
  end
end

return define, evaluate, quantity, check, Tuple, List, null, absent
