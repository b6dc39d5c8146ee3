-- What to do when it does not go on by itself: four ladders, each from the mildest step to the strongest.
--
--   fallback    the signal is missing, weak, unreadable or `stuck`: ask a classifier what to do
--   circles     something repeats: a nudge, a refusal, a withdrawal, another strategy, an honest answer
--   strategies  another way to search, each tried once
--   more tools  the next rung of grants; only tools that read

local unclear = BT.leaves("oracle.bt.conditions.fallback")
local fallback = BT.leaves("oracle.bt.actions.fallback_actions")
local circles = BT.leaves("oracle.bt.actions.circles")
local oracle = BT.leaves("oracle.bt.actions.oracle")
local evidence = BT.leaves("oracle.bt.conditions.evidence")
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local grant = BT.leaves("oracle.bt.actions.grants")
local tell = BT.leaves("oracle.bt.actions.tell")

local SILENT_TURNS = 3   -- so many turns without a signal consult the fallback, then every third
local WEAK_SIGNAL = 0.3  -- a confidence below this does too
local RECENT_TURNS = 3   -- evidence of the last turns is progress: the ladder begins with the nudge

-- After each response. It never ends the run, but its decision binds the next turn. Each signal is consulted on once.
BT.tree("fallback", {
  root = BT.always_succeed("unclear signal", BT.sequence("consult the fallback", {
    BT.selector("signal is unclear", {
      unclear.no_signal_for_n_turns { n = SILENT_TURNS },
      BT.expect("signal could not be read", "bb.signal_malformed"),
      BT.sequence("new signal", {
        BT.expect("not consulted on yet", "not bb.signal_consulted"),
        BT.selector("weak or stuck", {
          unclear.is_stuck_signal,
          unclear.signal_confidence_below { threshold = WEAK_SIGNAL },
        }),
      }),
    }),
    BT.subtree("ask the fallback"),
  })),
})

BT.tree("ask the fallback", {
  root = BT.sequence("ask the fallback", {
    fallback.trigger_fallback,
    BT.selector("carry out its decision", {
      BT.sequence("answer now", {
        BT.expect("decision is force_response", "bb.fallback_classification.action == 'force_response'"),
        fallback.force_response,
      }),
      BT.sequence("honest answer", {
        BT.expect("decision is escalate", "bb.fallback_classification.action == 'escalate'"),
        fallback.escalate,
      }),
      BT.sequence("try another way", {
        BT.expect("decision is retry_with_hint", "bb.fallback_classification.action == 'retry_with_hint'"),
        fallback.inject_fallback_hint,
        BT.later("change strategy"),
      }),
      fallback.inject_fallback_hint("continue"),
    }),
    fallback.forget_decision,
  }),
})

-- Something repeats. New evidence begins the ladder again from the top. A rung with nothing to take hold of (it is the
-- text that repeats, no call) makes room for the next.
BT.tree("circles", {
  root = BT.sequence("circles", {
    circles.name_what_repeats { turns = RECENT_TURNS },
    BT.selector("against the repetition", {
      BT.sequence("same reason and nothing new", {
        BT.expect("no progress", "bb.loop.kind == 'reason' and not bb.loop.progress"),
        BT.subtree("ask the fallback"),
        oracle.say_pending_chunks,
        BT.later("change strategy"),
      }),
      BT.ladder("one step more", {
        restart = "bb.loop.progress",
        tell.you_have_that_already,
        circles.refuse_the_repeated_call,
        circles.withdraw_the_repeated_tool,
        BT.later("change strategy"),
      }),
      tell.answer_from_what_there_is,
    }),
  }),
})

-- Another way to an answer. Each is taken once, in this order; one that has nothing to offer makes room for the next.
BT.tree("strategies", {
  root = BT.sequence("strategies", {
    BT.selector("another way", {
      BT.ladder("next strategy", {
        BT.sequence("other words", { evidence.can_be_searched_for, tell.rephrase_the_search }),
        BT.subtree("more tools"),
        tell.try_another_source,
        BT.sequence("every part", { coverage.can_be_covered, BT.later("cover every part") }),
      }),
      tell.answer_from_what_there_is,
    }),
    circles.count_strategy,
  }),
})

-- Tools that only read. Uncertainty never grants a tool that writes.
BT.tree("more tools", {
  root = BT.selector("more tools", {
    grant.more_reading_tools("of the second class", { rung = "second_class" }),
    grant.more_reading_tools("of all local sources", { rung = "local" }),
    grant.more_reading_tools("of the web too", { rung = "all" }),
  }),
})
