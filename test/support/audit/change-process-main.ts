import { audited } from '../../../lib/access/audit-log.ts'
import { auditStore } from '../../../lib/dynamodb/audit-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { aChange } from './a-change.ts'

/**
 * Makes a recorded change, which writes an item, and kills itself at a point of it.
 * Arguments: the organization, the partition key of the item, and `before` or `after` the write.
 */
const [organizationId = '', pk = '', point] = process.argv.slice(2)
const table = openTable()
const die = () => process.kill(process.pid, 'SIGKILL')
await audited({ audit: auditStore(table), system }, aChange(organizationId), async () => {
  if (point === 'before') die()
  await table.put({ pk, sk: 'CHANGED' })
  if (point === 'after') die()
})
