-- A broad question: list what bears on it, read each part, put what they say before the model in order, and say
-- what was left out. It never ends the run: where it cannot help, the turns go on without it.

local function while_time_is_left(leaf)
  return BT.always_succeed("in time", BT.timeout("while time is left", { seconds = "seconds_left", leaf }))
end

-- A few at a time, until it is enough.
local function read(name, enough)
  return BT.always_succeed(name, BT.loop(name, {
    max = 12,
    BT.sequence("some of them", {
      BT.guard("it is enough", { fn = enough, BT.exit(name) }),
      BT.action("hand out", { fn = "oracle.bt.actions.coverage.hand_out_parts" }),
      BT.action("how long", { fn = "oracle.bt.actions.coverage.note_time_for_parts" }),
      while_time_is_left(BT.action("read", { fn = "oracle.bt.actions.coverage.read_parts" })),
      BT.action("note", { fn = "oracle.bt.actions.coverage.note_parts" }),
    }),
  }))
end

BT.tree("coverage", {
  root = BT.sequence("broad", {
    BT.always_succeed("as far as it goes", BT.sequence("coverage", {
      BT.action("begin", { fn = "oracle.bt.actions.coverage.begin_coverage" }),
      BT.timeout("while time is left", {
        seconds = "seconds_left",
        BT.action("list", { fn = "oracle.bt.actions.coverage.list_parts" }),
      }),
      BT.action("weigh the messages", { fn = "oracle.bt.actions.turn.weigh_messages" }),

      read("the first", "oracle.bt.conditions.coverage.enough_is_read_to_follow"),
      -- What connects two parts may have no word of the question: no search finds it, their imports do.
      BT.guard("something may lie between", {
        fn = "oracle.bt.conditions.coverage.something_may_lie_between",
        while_time_is_left(BT.action("follow", { fn = "oracle.bt.actions.coverage.follow_imports" })),
      }),
      read("the others", "oracle.bt.conditions.coverage.no_part_may_be_read"),

      -- A few small parts are handed over as they are. Of more than that the model makes extracts, each in a small
      -- request of its own, which is no turn: it costs tokens, money and seconds, and the conversation stays short.
      BT.guard("too much to hand over whole", {
        fn = "oracle.bt.conditions.coverage.parts_are_too_much",
        BT.always_succeed("extract", BT.loop("extracts", {
          max = 12,
          BT.sequence("some of them", {
            BT.guard("it is enough", {
              fn = "oracle.bt.conditions.coverage.no_part_may_be_asked_about",
              BT.exit("extracts"),
            }),
            BT.action("how long", { fn = "oracle.bt.actions.coverage.note_time_for_parts" }),
            while_time_is_left(BT.action("ask", { fn = "oracle.bt.actions.extracts.ask_about_parts" })),
          }),
        })),
      }),

      BT.action("merge", { fn = "oracle.bt.actions.coverage.merge_parts" }),
    })),
    BT.action("end", { fn = "oracle.bt.actions.coverage.end_coverage" }),
  }),
})
