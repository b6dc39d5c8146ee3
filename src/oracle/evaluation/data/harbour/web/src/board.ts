// The board on the wall of the harbour office: one lane a berth, cranes below.

import { Board, Lane } from "quayside";
import * as api from "./api";
import { poll } from "./poll";
import { Booking, Crane } from "./types";

const LANES = ["A1", "A2", "A3", "B1", "B2", "R1", "F1"];
const STALE_AFTER_FAILURES = 3;

const COLOURS: Record<Booking["state"], string> = {
  requested: "#b0b0b0",
  pencilled: "#f2c14e",
  confirmed: "#4d9078",
  alongside: "#2660a4",
  departed: "#ffffff",
  cancelled: "#ffffff",
  no_show: "#c8553d",
};

export function draw(board: Board, bookings: Booking[], cranes: Crane[]): void {
  board.clear();
  for (const name of LANES) {
    const lane: Lane = board.lane(name);
    for (const each of bookings.filter((b) => b.berth === name)) {
      lane.bar(each.arrives, each.departs, COLOURS[each.state], `#${each.id}`);
    }
  }
  for (const crane of cranes) {
    board.badge(crane.name, crane.state === "stopped" ? "WIND" : crane.state);
  }
}

export function start(board: Board, key: string, ids: number[]): void {
  poll(
    async () => {
      const bookings = await Promise.all(ids.map((id) => api.booking(id, key)));
      draw(board, bookings, await api.cranes(key));
      board.banner(null);
    },
    (failures) => {
      if (failures >= STALE_AFTER_FAILURES) board.banner("NO CONNECTION - call the office");
    },
  );
}
