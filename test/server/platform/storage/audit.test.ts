import { describeAudit } from './audit-contract.ts';
import { postgresTestDatabase, sqliteTestDatabase } from './test-databases.ts';

describeAudit('SQLite', sqliteTestDatabase);
describeAudit('PostgreSQL', postgresTestDatabase);
