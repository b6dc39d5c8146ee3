-- The tool calls of a response: screened, run side by side, and their results weighed.

local reply = BT.leaves("oracle.bt.conditions.reply")
local evidence = BT.leaves("oracle.bt.conditions.evidence")
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local calls = BT.leaves("oracle.bt.actions.calls")
local tell = BT.leaves("oracle.bt.actions.tell")

local MOST_FAILURES = 2     -- after so many failed calls the model is told how to recover
local CALLS_A_STRATEGY = 3  -- a strategy that finds nothing in so many calls has failed
local SPREAD = { turns = 5, calls = 5, files = 10 } -- from here on the question is broad after all

BT.tree("work", {
  root = BT.guard("response has calls", {
    reply.has_calls,
    BT.sequence("work", {
      BT.sequence("screen the calls", {
        calls.refuse_ungranted,
        calls.refuse_repeated,
        calls.refuse_used_up,
      }),
      calls.note_the_time_left,
      BT.selector("run them in time", {
        BT.timeout("while time is left", { seconds = "seconds_left", calls.run }),
        BT.subtree("end without a response"),
      }),

      BT.guard("calls keep failing", {
        evidence.calls_keep_failing { failures = MOST_FAILURES },
        tell.how_to_recover_from_errors,
      }),
      BT.guard("enough was found", { evidence.is_enough, BT.once("say so once", tell.enough_was_found) }),
      BT.guard("evidence keeps spreading", {
        coverage.evidence_keeps_spreading(SPREAD),
        BT.guard("parts can be read", { coverage.can_be_covered, BT.later("cover every part") }),
      }),
      BT.guard("nothing was found", {
        evidence.is_nowhere,
        BT.once("say so once", BT.sequence("try another way", { tell.nothing_was_found, BT.later("change strategy") })),
      }),
      BT.guard("still nothing", {
        evidence.no_strategy_finds_any { calls = CALLS_A_STRATEGY },
        BT.later("change strategy"),
      }),
    }),
  }),
})
