-- How many nodes of a job's had to be neighbours (--segment); 0 for none.

alter table "job" add column "segment_size" int default 0 not null;
