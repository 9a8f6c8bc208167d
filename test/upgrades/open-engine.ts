import { leaseTimes } from '../../lib/core/lease-times.ts'
import type { System } from '../../lib/core/ports.ts'
import { openStores, type Stores } from '../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import type { SubmitEngine } from '../../lib/engine/submit/accept.ts'
import { admission } from '../../lib/engine/submit/admission.ts'
import type { ScriptedModel } from '../support/scripted-model/start-scripted-model.ts'

/** An engine that accepts and runs executions on a table; queued messages are dropped. */
export function openEngine(
  { endpoint, tableName }: { endpoint: string; tableName: string },
  scripted: ScriptedModel,
  system: System,
): SubmitEngine & Stores {
  const stores = openStores(openTable({ TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint }))
  return {
    ...stores,
    system,
    admit: admission({ executions: stores.executions, system }, 1_000),
    queue: { send: async () => undefined },
    environment: scripted.environmentFor('openai-compatible'),
    times: { ...leaseTimes(), retryDelayMs: 1 },
    syncDeadlineMs: 60_000,
  }
}
