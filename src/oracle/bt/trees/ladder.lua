-- For a run that goes in circles: one rung more each time, from the first again if new evidence has come. A rung
-- that has nothing to take hold of (no call, where it is the text that goes round) makes room for the next.

local function rung(number, name, fn)
  return BT.sequence(name, {
    BT.condition("its turn", { expression = "bb.ladder_rung <= " .. number }),
    BT.action("take it", { fn = fn }),
    BT.action("note it", { fn = "oracle.bt.actions.ladder.note_rung", args = { number = number } }),
  })
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
        BT.action("move on", { fn = "oracle.bt.actions.strategy.move_on" }),
      }),
      rung(1, "nudge", "oracle.bt.actions.ladder.nudge"),
      rung(2, "not run", "oracle.bt.actions.ladder.refuse_repeats"),
      rung(3, "withdraw", "oracle.bt.actions.ladder.withdraw_repeated_tool"),
      rung(4, "another strategy", "oracle.bt.actions.strategy.move_on"),
      BT.action("partial answer", { fn = "oracle.bt.actions.ladder.ask_for_what_there_is" }),
    }),
  }),
})
