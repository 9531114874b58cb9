-- What the meters of file systems and GPUs said of a step: numbers with slashes between, in the order of Metered's.

alter table "step" add column "usage_metered" varchar(160) default '' not null;
