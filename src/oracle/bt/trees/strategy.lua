-- Another way to an answer. Each is taken once, in this order; one that has nothing to offer makes room for the next.

local function strategy(number, name, fn)
  return BT.sequence(name, {
    BT.condition("its turn", { expression = "bb.strategy <= " .. number }),
    BT.action("take it", { fn = fn }),
    BT.action("note it", { fn = "oracle.bt.actions.strategy.note_strategy", args = { number = number } }),
  })
end

BT.tree("strategy", {
  root = BT.selector("next", {
    strategy(1, "rephrase", "oracle.bt.actions.strategy.rephrase_the_search"),
    strategy(2, "more tools", "oracle.bt.actions.strategy.grant_next_rung"),
    strategy(3, "another source", "oracle.bt.actions.strategy.point_to_another_source"),
    strategy(4, "every part", "oracle.bt.actions.coverage.ask_for_coverage"),
    BT.action("what there is", { fn = "oracle.bt.actions.ladder.ask_for_what_there_is" }),
  }),
})
