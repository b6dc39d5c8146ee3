import { Booking, Crane, isProblem } from "./types";

const BASE = "/v1";

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly retryAfter: number | null,
  ) {
    super(message);
  }
}

async function get<T>(path: string, key: string): Promise<T> {
  const response = await fetch(BASE + path, {
    headers: { Authorization: `Bearer ${key}` },
    cache: "no-store",
  });
  const body: unknown = await response.json();
  if (isProblem(body)) {
    const after = response.headers.get("Retry-After");
    throw new ApiError(body.error.code, body.error.message, after ? Number(after) : null);
  }
  return body as T;
}

export function booking(id: number, key: string): Promise<Booking> {
  return get(`/bookings/${id}`, key);
}

export async function cranes(key: string): Promise<Crane[]> {
  return (await get<{ cranes: Crane[] }>("/cranes", key)).cranes;
}
