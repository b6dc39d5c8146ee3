-- For a run that goes in circles: one rung more each time, from the first again if new evidence has come.

local function rung(number)
  return BT.condition("its turn", { expression = "bb.ladder_rung == " .. number })
end

BT.tree("ladder", {
  root = BT.sequence("ladder", {
    BT.action("climb", { fn = "oracle.bt.actions.ladder.climb" }),
    BT.selector("rung", {
      BT.sequence("the same reason and nothing new", {
        BT.condition("no progress", { expression = "bb.loop.kind == 'reason' and not bb.loop.progress" }),
        BT.action("classify", { fn = "oracle.bt.actions.fallback_actions.trigger_fallback" }),
        BT.action("carry out", { fn = "oracle.bt.actions.fallback_actions.apply_heuristic_classification" }),
        BT.action("say what is pending", { fn = "oracle.bt.actions.telling.say_pending" }),
        BT.guard("not moved on by it", {
          expression = "bb.strategy == bb.strategy_applied and not bb.tools_withdrawn",
          BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }),
        }),
      }),
      BT.sequence("nudge", { rung(1), BT.action("nudge", { fn = "oracle.bt.actions.ladder.nudge" }) }),
      BT.sequence("not run", { rung(2), BT.action("refuse", { fn = "oracle.bt.actions.ladder.refuse_repeats" }) }),
      BT.sequence("withdraw", {
        rung(3),
        BT.action("that tool", { fn = "oracle.bt.actions.ladder.withdraw_repeated_tool" }),
      }),
      BT.sequence("another strategy", { rung(4), BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }) }),
      BT.action("partial answer", { fn = "oracle.bt.actions.ladder.ask_for_what_there_is" }),
    }),
  }),
})
