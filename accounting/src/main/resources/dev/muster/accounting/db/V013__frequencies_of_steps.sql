-- How fast the CPUs of a step's tasks ran, in kHz, and what was asked for with --cpu-freq.

alter table "step" add column "usage_ave_cpu_khz" bigint default 0 not null;
alter table "step" add column "cpu_freq" varchar(64) default '' not null;
