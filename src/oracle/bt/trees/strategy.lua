-- Another way to an answer. Each is taken once, in this order; one that has nothing to offer makes room for the next.

local function from(number)
  return BT.condition("its turn", { expression = "bb.strategy <= " .. number })
end

BT.tree("strategy", {
  root = BT.sequence("strategy", {
    BT.selector("next", {
      BT.sequence("rephrase", { from(1), BT.action("the search", { fn = "oracle.bt.actions.strategy.rephrase_the_search" }) }),
      BT.sequence("more tools", { from(2), BT.action("next rung", { fn = "oracle.bt.actions.strategy.grant_next_rung" }) }),
      BT.sequence("another source", {
        from(3),
        BT.action("point to it", { fn = "oracle.bt.actions.strategy.point_to_another_source" }),
      }),
      BT.action("what there is", { fn = "oracle.bt.actions.ladder.ask_for_what_there_is" }),
    }),
    BT.action("note it", { fn = "oracle.bt.actions.strategy.note_strategy" }),
  }),
})
