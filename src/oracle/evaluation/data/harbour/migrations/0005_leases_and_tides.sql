create table job_leases (
    job      text primary key,
    owner    text not null,
    token    bigint not null,
    expires  timestamptz not null
);

create table tide_snapshots (
    station     text not null,
    fetched_at  timestamptz not null,
    heights     jsonb not null,
    primary key (station, fetched_at)
);
