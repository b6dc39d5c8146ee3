-- A broad question: list its parts, read each, give them to the model in order, and say what was left out.
-- It never ends the run: if it cannot help, the turns go on without it.

local cover = BT.leaves("oracle.bt.actions.coverage")
local extracts = BT.leaves("oracle.bt.actions.extracts")
local budget = BT.leaves("oracle.bt.actions.budget")
local parts = BT.leaves("oracle.bt.conditions.coverage")

-- services/coverage/ decides which parts there are (at most 20) and what reading them may cost: a fifth of each tool's
-- uses is left to the model.
local BROAD = 0.4            -- from this breadth on, parts are read: higher misses broad questions, lower costs narrow ones
local SURELY_BROAD = 0.8     -- below this, it may be two questions about one place
local EVERY_PART = 20        -- where every one is asked for: an answer that lacks one is wrong
local MANY_PARTS = 12        -- of another broad question: after the best dozen, parts are hardly ever cited
local SOME_PARTS = 5         -- of one that may be broad
local FEW_PARTS = 3          -- of a narrow one, if the model itself has not found anything
local QUOTED_AS_READ = 30    -- lines. A part that the search has quoted like this is as good as read
local QUOTED_AT_LENGTH = 12  -- lines. Where the search has quoted so much of another part, it need not be read
local AT_ONCE = 4            -- parts that are read, or asked about, side by side: providers limit parallel requests
local PARTS_TO_FOLLOW = 4    -- the best are read in any case, with what they import
local FAILED_REQUESTS = 4    -- so many requests without a reply mean that the model is in trouble: quote the rest instead
local SHARE_OF_THE_TIME = 0.5 -- the other half is for the answer
local MOST_ROUNDS = 12       -- more than the parts can need; only stops a changed tree that never ends

local function in_time(name, leaf)
  return BT.always_succeed(name, BT.timeout("while time is left", { seconds = "seconds_left", leaf }))
end

local function read_until(name, is_enough)
  return BT.always_succeed("read the " .. name, BT.loop(name, {
    max = MOST_ROUNDS,
    BT.sequence("read a few", {
      BT.guard("enough is read", { is_enough, BT.exit(name) }),
      cover.choose_next_parts { at_once = AT_ONCE },
      cover.note_time_for_parts,
      in_time("read them", cover.read_parts),
      cover.note_unread_parts,
    }),
  }))
end

-- What is about the world outside has no parts here, however broad it is.
BT.tree("question is broad", {
  root = BT.expect("is broad", "bb.classification.breadth >= " .. BROAD .. " and bb.classification.query_type ~= 'research'"),
})

BT.tree("coverage", {
  root = BT.sequence("coverage", {
    BT.always_succeed("as far as possible", BT.sequence("read and merge", {
      parts.can_be_covered, -- asked again: the tools may have been withdrawn since it was asked for
      cover.begin { share_of_time = SHARE_OF_THE_TIME },
      BT.selector("how many parts", {
        BT.sequence("question is narrow", {
          parts.the_question_is_narrow { broad = BROAD },
          cover.want_parts { parts = FEW_PARTS },
        }),
        BT.sequence("question may be broad", {
          parts.the_question_is_narrow("is not surely broad", { broad = SURELY_BROAD }),
          cover.want_parts("some", { parts = SOME_PARTS }),
        }),
        BT.sequence("every one is asked for", {
          parts.every_one_is_asked_for,
          cover.want_parts("every part", { parts = EVERY_PART }),
        }),
        cover.want_parts("many", { parts = MANY_PARTS }),
      }),
      BT.timeout("while time is left", { seconds = "seconds_left", cover.list_parts { many = MANY_PARTS } }),
      budget.weigh_messages,
      cover.take_parts_as_quoted("take the longest as quoted", { lines = QUOTED_AS_READ }),
      BT.guard("a few or a list", {
        parts.parts_stand_alone { many = MANY_PARTS },
        cover.take_parts_as_quoted("take them as quoted", { lines = QUOTED_AT_LENGTH }),
      }),

      read_until("first parts", parts.enough_is_read_to_follow_imports { parts = PARTS_TO_FOLLOW }),
      cover.take_parts_as_quoted { lines = QUOTED_AT_LENGTH },
      -- What connects two parts may share no word with the question: no search finds it, their imports do.
      BT.guard("parts may be connected", {
        parts.parts_may_be_connected { many = MANY_PARTS },
        in_time("look for what connects them", cover.follow_imports),
      }),
      read_until("other parts", parts.all_readable_parts_are_read),

      -- A few small parts are handed over as they are. Of more than that the model makes extracts, each in a small
      -- request of its own. It is not a turn: it costs tokens, money and seconds, and the conversation stays short.
      BT.guard("too much to hand over whole", {
        parts.parts_are_too_much,
        BT.always_succeed("make extracts", BT.loop("extracts", {
          max = MOST_ROUNDS,
          BT.sequence("ask about a few", {
            BT.guard("enough is asked", {
              parts.enough_parts_are_asked_about { at_once = AT_ONCE, failures = FAILED_REQUESTS },
              BT.exit("extracts"),
            }),
            cover.note_time_for_parts,
            in_time("ask the model about them", extracts.ask_about_parts { at_once = AT_ONCE }),
          }),
        })),
      }),

      cover.merge_parts,
    })),
    cover.close,
  }),
})
