import { describeAudit } from './audit-contract.ts';
import { postgresGround, sqliteGround } from './test-databases.ts';

describeAudit('SQLite', sqliteGround);
describeAudit('PostgreSQL', postgresGround);
