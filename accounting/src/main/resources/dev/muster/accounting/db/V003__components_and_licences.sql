-- Components of heterogeneous jobs, and the licences that a job asked for.

alter table "job" add column "het_job_id" int default 0 not null;
alter table "job" add column "het_offset" int default 0 not null;
alter table "job" add column "licenses" varchar(4000) default '' not null;
create index "job_by_het" on "job" ("het_job_id");
