-- A broad question: list what bears on it, read each part, put all of them before the model in order, and say
-- what was left out. It never ends the run: where it cannot help, the turns go on without it.

BT.tree("coverage", {
  root = BT.sequence("broad", {
    BT.always_succeed("as far as it goes", BT.sequence("coverage", {
      BT.action("begin", { fn = "oracle.bt.actions.coverage.begin_coverage" }),
      BT.timeout("while time is left", {
        seconds = "seconds_left",
        BT.action("list", { fn = "oracle.bt.actions.coverage.list_parts" }),
      }),

      BT.always_succeed("read", BT.loop("parts", {
        max = 12,
        BT.sequence("some of them", {
          BT.action("weigh the messages", { fn = "oracle.bt.actions.turn.weigh_messages" }),
          BT.guard("it is enough", {
            fn = "oracle.bt.conditions.coverage.no_part_may_be_read",
            BT.exit("parts"),
          }),
          BT.action("hand out", { fn = "oracle.bt.actions.coverage.hand_out_parts" }),
          BT.always_succeed("in time", BT.timeout("while time is left", {
            seconds = "seconds_left",
            BT.action("read", { fn = "oracle.bt.actions.tools.run_calls" }),
          })),
          BT.action("note", { fn = "oracle.bt.actions.coverage.note_parts" }),
        }),
      })),

      BT.action("merge", { fn = "oracle.bt.actions.coverage.merge_parts" }),
    })),
    BT.action("end", { fn = "oracle.bt.actions.coverage.end_coverage" }),
  }),
})
