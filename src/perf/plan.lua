-- Makes one flat function of a row. prelude.lua finds quantities by name when something asks for
-- them; calls of one row mostly ask for the same ones. A plan writes those that one call asked for one
-- after another, each behind what its expression mentions: a quantity is a local variable then, and
-- Lua itself finds it. What a plan does not have, as another kind of call needs it, is found by name
-- as before; where a plan fails, the call is evaluated by name, and that tells why.
--
-- Runs once in each sandbox, for rows of our own alone: others might be no expressions by themselves.
-- Returns make_plan().
local host, load, next, words, float_words = ...

-- Those of `keys` that are the row's own or a call's, each behind what its expression mentions. What
-- a function mentions counts, too. Of what goes round in a circle one is found by name.
local function in_order(row, keys)
  local wanted, done, order = {}, {}, {n = 0}
  for i = 1, keys.n do
    local key = keys[i]
    wanted[key] = row.texts[key] ~= nil or host.is_input(key)
  end
  local function visit(key)
    if done[key] or not wanted[key] then return end
    done[key] = true
    if row.texts[key] ~= nil then
      local names = host.names(row.texts[key])
      for i = 1, names.n do visit(names[i]) end
    end
    order.n = order.n + 1
    order[order.n] = key
  end
  for i = 1, keys.n do visit(keys[i]) end
  return order
end

local function set_of(order)
  local set = {}
  for i = 1, order.n do set[order[i]] = true end
  return set
end

-- "if a == nil or b == nil then __miss() end"
local function without_nil(order)
  if order.n == 0 then return "" end
  local text = "if " .. order[1] .. " == nil"
  for i = 2, order.n do text = text .. " or " .. order[i] .. " == nil" end
  return text .. " then __miss() end\n"
end

-- The words that the expressions mention, as local variables: words of costs with "__" before them
-- where they differ.
local function words_of(row, texts)
  local head, costs, seen = "", "", {}
  for i = 1, texts.n do
    local names = host.names(texts[i])
    for k = 1, names.n do
      local name = names[k]
      local is_word = words[name] ~= nil and row.texts[name] == nil and not row.parameters[name]
      if is_word and not seen[name] then
        seen[name] = true
        head = head .. "local " .. name .. " = __words." .. name .. "\n"
        if float_words[name] ~= words[name] then
          head = head .. "local __" .. name .. " = __float_words." .. name .. "\n"
          costs = costs .. "local " .. name .. " = __" .. name .. "\n"
        end
      end
    end
  end
  return head, costs
end

-- One function of a call that returns FLOPs, bytes, unit, precision and the values of the list of
-- parameters `which`; nil: the row is too long for one. params, costs: the keys that a call asked
-- for, in either box (see prelude.lua). Fails on a call of another kind.
local function make_plan(row, which, backward, params, costs)
  local entries = row.entries[which] or {n = 0}
  local first, second = in_order(row, params), in_order(row, costs)
  local here = set_of(first)
  local texts = {n = 0}
  local function mention(text)
    texts.n = texts.n + 1
    texts[texts.n] = text
  end
  for _, order in next, {first, second} do
    for i = 1, order.n do mention(row.texts[order[i]] or "") end
  end
  for i = 0, entries.n - 1 do mention(entries[i].text or "") end
  local head, cost_words = words_of(row, texts)

  local body, returned = "", "__flops, __bytes, unit, precision"
  for i = 1, first.n do
    local key, text = first[i], row.texts[first[i]]
    body = body .. "local " .. key .. " = "
      .. (text ~= nil and "(" .. text .. "\n)\n" or "__input(__call, \"" .. key .. "\")\n")
  end
  for i = 0, entries.n - 1 do
    local key, text = entries[i].key, entries[i].text
    local name = "__entry" .. i
    body = body .. "local " .. name .. " = "
      .. (text ~= nil and "(" .. text .. "\n)\n" or here[key] and key .. "\n" or "__p." .. key .. "\n")
      .. "if " .. name .. " == nil then __miss() end\n"
    returned = returned .. ", " .. name
  end
  body = body .. without_nil(first)
  if row.texts.params_list ~= nil then body = body .. "if params_list ~= __which then __miss() end\n" end

  -- What costs are computed from goes as an argument: no name of the parameters is in sight there.
  local given, arguments, cost_body = "", "", ""
  for i = 1, second.n do
    local key, text = second[i], row.texts[second[i]]
    local of_base = row.parameters[key] or text == nil
    if of_base and here[key] then
      given, arguments = given .. ", " .. key, arguments .. ", __base" .. i
      cost_body = cost_body .. "local " .. key .. " = __floated(__base" .. i .. ")\n"
    elseif of_base then
      cost_body = cost_body .. "local " .. key .. " = __floated(__p." .. key .. ")\n"
    else
      cost_body = cost_body .. "local " .. key .. " = (" .. text .. "\n)\n"
    end
  end
  local result = backward and "backward_flops, backward_bytes" or "flops, bytes"
  local chunk = "local __words, __float_words, __input, __floated, __miss, __which = ...\n" .. head
    .. "local function __costs(__p, __c" .. arguments .. ")\nlocal _ENV = __c\n" .. cost_words .. cost_body
    .. without_nil(second) .. "return " .. result .. "\nend\n"
    .. "return function(__p, __c, __call)\nlocal _ENV = __p\n" .. body
    .. "local __flops, __bytes = __costs(__p, __c" .. given .. ")\nreturn " .. returned .. "\nend\n"
  local made = load(chunk, "=" .. row.model, "t", {})
  return made and made(words, float_words, host.input, host.floated, host.miss, which)
end

return make_plan
