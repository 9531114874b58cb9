-- Labels of multi-category security, and whom a job shared its nodes with.

alter table "job" add column "mcs_label" varchar(1024) default '' not null;
alter table "job" add column "over_subscribe" varchar(16) default '' not null;
alter table "job" add column "exclusive_use" varchar(16) default '' not null;
