-- What to do when it does not go on by itself. Four escalations, each from the mildest step to the strongest:
--
--   fallback    the signal is missing, weak, unreadable or `stuck`: a classifier says what to do
--   circles     something repeats: a nudge, a refusal, a withdrawal, another strategy, an honest answer
--   strategies  another way to search, each tried once
--   more tools  the first rung of grants that adds a tool; only tools that read

local unclear = BT.leaves("oracle.bt.conditions.fallback")
local fallback = BT.leaves("oracle.bt.actions.fallback_actions")
local circles = BT.leaves("oracle.bt.actions.circles")
local say = BT.leaves("oracle.bt.actions.say")
local evidence = BT.leaves("oracle.bt.conditions.evidence")
local coverage = BT.leaves("oracle.bt.conditions.coverage")
local grant = BT.leaves("oracle.bt.actions.grants")
local note = BT.leaves("oracle.bt.actions.note")
local tell = BT.leaves("oracle.bt.actions.tell")

-- The heuristic classifier has the first two numbers too (services/fallback_classifier.py): change them there as well.
local SILENT_TURNS = 3   -- so many turns in a row without a signal consult the fallback, and then as many more
local WEAK_SIGNAL = 0.3  -- a confidence below this consults it too
local EMPTY_STRATEGIES = 2 -- after so many in a row that brought nothing, others would not either
local OWN_SEARCHES = 3     -- the model has tried other words, or another source, by itself
local SOME_WORDS = 0.2     -- a source whose best place has less of the question's words is not worth a search
local ENDLESS_TEXTS = 2    -- after the second in a row the model is asked for the answer, without tools
local RECENT_TURNS = 3   -- evidence of the last three turns, found since the last repetition, restarts the ladder

local function ask_for_what_there_is()
  return BT.sequence("last turn without tools", { grant.withdraw_all { stop = "stuck" }, tell.answer_from_what_there_is })
end

BT.tree("answer from what there is", { root = ask_for_what_there_is() })

-- The tree reads itself what a broad question spans, or the best places if nothing was found so far, or if the model
-- has looked around without a search. Else it is the end.
local function the_last_way()
  return BT.selector("the last way", {
    BT.sequence("every part", {
      BT.selector("there is more to read", {
        BT.subtree("question is broad"),
        BT.invert("nothing is there", evidence.was_gathered),
        evidence.is_only_an_overview,
      }),
      coverage.can_be_covered,
      BT.later("cover every part"),
    }),
    ask_for_what_there_is(),
  })
end

-- A model that only talks, with evidence in hand, needs no other way to search: it has to answer.
local function another_way_or_the_answer()
  return BT.selector("another way or the answer", {
    BT.sequence("evidence is there", {
      BT.expect("no call repeats", "#bb.loop.calls == 0"),
      evidence.was_gathered,
      BT.invert("not only an overview", evidence.is_only_an_overview),
      BT.selector("ask for the answer", {
        BT.expect("was asked for it", "bb.tools_withdrawn"),
        BT.sequence("answer without tools", { grant.withdraw_all { stop = "" }, tell.answer_now }),
      }),
    }),
    BT.later("change strategy"),
  })
end

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

-- The classifier is services/fallback_classifier.py or one that replaces it. Its rules, in order: most of at least three
-- calls failed (escalate); a long text is there after two silent turns (force_response); a short question needed no tool
-- (force_response); silence with results (continue) or without (retry_with_hint); else continue. A signal `stuck` leads
-- to another way, unless tools fail. force_response and escalate withdraw all tools. But where evidence is missing and a
-- tool was not used yet, force_response asks for a search instead. BERT, if it is installed, reads what the model said
-- last, and the decision is made from both (docs/bert.md).
BT.tree("ask the fallback", {
  root = BT.sequence("ask the fallback", {
    BT.always_succeed("second opinion", BT.sequence("second opinion on the situation", {
      unclear.bert_is_used_for { use = "fallback" },
      fallback.read_the_situation,
    })),
    fallback.trigger_fallback,
    BT.selector("carry out its decision", {
      BT.sequence("final response", {
        BT.expect("decision is force_response", "bb.fallback_classification.action == 'force_response'"),
        BT.selector("with or without tools", {
          BT.sequence("search first", {
            evidence.is_missing,
            evidence.a_reading_tool_is_unused,
            BT.selector("once", { BT.expect("sent back before", "bb.doubts > 0"), BT.later("search first") }),
          }),
          fallback.force_response("final response without tools"),
        }),
      }),
      BT.sequence("honest answer without tools", {
        BT.expect("decision is escalate", "bb.fallback_classification.action == 'escalate'"),
        fallback.escalate,
      }),
      BT.sequence("hint and another way", {
        BT.expect("decision is retry_with_hint", "bb.fallback_classification.action == 'retry_with_hint'"),
        fallback.inject_fallback_hint,
        BT.later("change strategy"),
      }),
      fallback.inject_fallback_hint("continue with the hint"),
    }),
    fallback.forget_decision,
  }),
})

-- Something repeats. New evidence begins the ladder again from the top. A rung that does not apply (it is the text that
-- repeats, not a call) makes room for the next.
BT.tree("circles", {
  root = BT.sequence("circles", {
    circles.name_what_repeats { turns = RECENT_TURNS },
    -- What has failed twice in the same way is not tried a third time, whatever rung comes next.
    BT.guard("the call fails", { "bb.loop.fails", circles.refuse_that_call_from_now_on("refuse it at once") }),
    BT.selector("against the repetition", {
      -- Each such text costs as much as a whole answer, so a model that writes another one is not helped any more.
      BT.sequence("its text has no end again", {
        BT.expect("often in a row", "bb.loop.kind == 'endless' and bb.loop.times >= " .. ENDLESS_TEXTS),
        ask_for_what_there_is(),
      }),
      BT.sequence("same reason and nothing new", {
        BT.expect("no progress", "bb.loop.kind == 'reason' and not bb.loop.progress"),
        BT.subtree("ask the fallback"),
        say.pending_chunks,
        another_way_or_the_answer(),
      }),
      BT.ladder("next rung against circles", {
        restart = "bb.loop.progress",
        tell.you_have_that_already,
        circles.refuse_that_call_from_now_on,
        circles.withdraw_that_tool,
        another_way_or_the_answer(),
      }),
      BT.sequence("nobody has searched", {
        BT.expect("tools are left", "not bb.tools_withdrawn"),
        evidence.is_only_an_overview, -- or nothing at all
        coverage.can_be_covered,
        BT.later("cover every part"),
      }),
      ask_for_what_there_is(),
    }),
  }),
})

-- Another way to an answer. Each is taken once, in this order; one that has nothing to offer makes room for the next.
-- After two in a row that brought nothing, only the last way is left. So it is if the best place that the index knows was
-- found, and the model has searched in several ways: only a name that nothing here has may be known outside.
BT.tree("strategies", {
  root = BT.sequence("strategies", {
    BT.selector("another way to search", {
      BT.sequence("nothing better is here", {
        evidence.nothing_better_is_here { searches = OWN_SEARCHES },
        BT.selector("outside or the end", {
          BT.sequence("unknown name", {
            evidence.lacks_what_was_asked_for,
            grant.more_reading_tools("tools of the web", { rung = "web" }),
          }),
          the_last_way(),
        }),
      }),
      BT.sequence("in vain twice", {
        evidence.strategies_brought_nothing { strategies = EMPTY_STRATEGIES },
        the_last_way(),
      }),
      BT.ladder("next strategy", {
        BT.sequence("other words", { evidence.a_reading_tool_is_on_offer, tell.rephrase_the_search }),
        BT.subtree("more tools"),
        tell.try_another_source,
      }),
      the_last_way(),
    }),
    note.strategy,
  }),
})

-- Tools that only read: the first rung that adds one. Uncertainty never grants a tool that writes. A name that nothing
-- here mentions may be known outside: then the web is not kept for later.
BT.tree("more tools", {
  root = BT.selector("more tools", {
    BT.sequence("unknown name", {
      evidence.lacks_what_was_asked_for,
      grant.more_reading_tools("tools of every source", { rung = "all", least = SOME_WORDS }),
    }),
    grant.more_reading_tools("tools of the second class", { rung = "second_class", least = SOME_WORDS }),
    grant.more_reading_tools("tools of all local sources", { rung = "local", least = SOME_WORDS }),
    grant.more_reading_tools("tools of the web too", { rung = "all", least = SOME_WORDS }),
  }),
})
