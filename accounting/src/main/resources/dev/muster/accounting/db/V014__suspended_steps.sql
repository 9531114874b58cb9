-- Since when a job has been suspended (0: it is not), and for how long steps were.

alter table "job" add column "suspended_since" bigint default 0 not null;
alter table "step" add column "suspended_seconds" bigint default 0 not null;
