-- Which reservations a job asked for, the number of the one that it was in, the node whose failure ended it, and what administrators said of it.

alter table "job" add column "reservation_requested" varchar(1024) default '' not null;
alter table "job" add column "reservation_id" int default 0 not null;
alter table "job" add column "failed_node" varchar(255) default '' not null;
alter table "job" add column "system_comment" varchar(1024) default '' not null;
