/** Writes `test/fixtures/suspended`: a table with suspended executions that this commit has written. */
import { execFileSync } from 'node:child_process'
import { submitAsync } from '../../lib/engine/submit/accept.ts'
import { buildRunRequest } from '../../lib/engine/submit/run-request.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
import { system } from '../../lib/system.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { publish } from './create-data.ts'
import { createTable } from './create-table.ts'
import { openEngine } from './open-engine.ts'
import { type SuspendedManifest, writeSuspended } from './suspended-files.ts'

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
if (git('status', '--porcelain', 'lib')) throw new Error('Commit the changes of lib first.')
const emulator = await startDynamoDB(null)
const scripted = await startScriptedModel()
try {
  const { endpoint } = emulator
  const table = await createTable(endpoint)
  const engine = openEngine({ endpoint, tableName: table.name }, scripted, system)
  const organizationId = system.newId()
  const version = await publish(engine, organizationId, 'waits', false)
  const suspend = async (kind: string) => {
    const { id } = await submitAsync(engine, await buildRunRequest(version, { kind }, {}))
    const message = { receiveCount: 1, changeVisibility: async () => undefined }
    await processMessage(engine, id, { message })
    const [first] = await engine.steps.read({ executionId: id })
    if (first?.step.kind !== 'CODE') throw new Error(`The run that waits for ${kind} has no step.`)
    return { id, before: Number(first.step.value) }
  }
  const manifest: SuspendedManifest = {
    commit: git('rev-parse', 'HEAD'),
    organizationId,
    executions: {
      approval: await suspend('approval'),
      signal: await suspend('signal'),
      sleep: await suspend('sleep'),
    },
    exportedAt: system.now(),
  }
  writeSuspended(manifest, await table.scan())
} finally {
  await scripted.stop()
  await emulator.stop()
}
// The threads of the agents stay.
process.exit()
