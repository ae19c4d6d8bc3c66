import { describeAudit } from './audit-contract.ts';
import { postgresGround, sqliteGround } from './grounds.ts';

describeAudit('SQLite', sqliteGround);
describeAudit('PostgreSQL', postgresGround);
