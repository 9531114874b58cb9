-- Which task of a step, on which node, used the most and the least of each thing.

alter table "step" add column "usage_ave_pages" bigint default 0 not null;
alter table "step" add column "usage_extremes" varchar(1000) default '' not null;
