// What the API sends. Keep in step with src/harbour/api/.

export type BookingState =
  | "requested"
  | "pencilled"
  | "confirmed"
  | "alongside"
  | "departed"
  | "cancelled"
  | "no_show";

export interface Booking {
  id: number;
  state: BookingState;
  berth: string | null;
  arrives: string;
  departs: string;
  not_possible: { berth: string; why: string }[];
}

export interface Crane {
  name: string;
  quay: "A" | "B";
  lift_t: number;
  state: "free" | "busy" | "stopped" | "broken";
}

export interface Problem {
  error: { code: string; message: string };
}

export function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "error" in body;
}
