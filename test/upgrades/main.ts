/** Writes `test/fixtures/baseline`: the template of the stack, and a table that this version has written. */
import { system } from '../../lib/system.ts'
import { startDynamoDB } from '../../local/emulators/start-emulators.ts'
import { synthesize } from '../infra/synthesize.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { writeBaseline } from './baseline-files.ts'
import type { Template } from './check-upgrade.ts'
import { createData } from './create-data.ts'
import { createTable } from './create-table.ts'
import { openEngine } from './open-engine.ts'
import { readData } from './read-data.ts'

const emulator = await startDynamoDB(null)
const scripted = await startScriptedModel()
try {
  const { endpoint } = emulator
  const table = await createTable(endpoint)
  const engine = openEngine({ endpoint, tableName: table.name }, scripted, system)
  const manifest = await createData(engine, scripted)
  scripted.assertDone()
  const items = await table.scan()
  const records = await readData(engine, manifest)
  writeBaseline({ template: synthesize().toJSON() as Template, items, manifest, records })
} finally {
  await scripted.stop()
  await emulator.stop()
}
