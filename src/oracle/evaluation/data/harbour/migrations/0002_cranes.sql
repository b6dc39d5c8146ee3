create table crane_states (
    name   text primary key,
    state  text not null check (state in ('free', 'busy', 'stopped', 'broken'))
);

create table crane_jobs (
    crane       text not null,
    booking_id  bigint not null references bookings,
    since       timestamptz not null default now(),
    primary key (crane, booking_id)
);
