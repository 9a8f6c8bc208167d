/**
 * Writes `test/fixtures/baseline`: what updates must keep of the template of the stack, and a table that this commit
 * has written.
 */
import { execFileSync } from 'node:child_process'
import { system } from '../../lib/system.ts'
import { synthesize } from '../infra/synthesize.ts'
import { startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { writeBaseline } from './baseline-files.ts'
import { pickKept, type Template } from './check-upgrade.ts'
import { createData } from './create-data.ts'
import { createTable } from './create-table.ts'
import { openEngine } from './open-engine.ts'
import { readData } from './read-data.ts'

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
if (git('status', '--porcelain', 'lib', 'infra'))
  throw new Error('Commit the changes of lib and infra first.')
const commit = git('rev-parse', 'HEAD')
const emulator = await startDynamoDB(null)
const scripted = await startScriptedModel()
try {
  const { endpoint } = emulator
  const table = await createTable(endpoint)
  const engine = openEngine({ endpoint, tableName: table.name }, scripted, system)
  const manifest = { commit, ...(await createData(engine, scripted)) }
  scripted.assertDone()
  const items = await table.scan()
  const records = await readData(engine, manifest)
  writeBaseline({ template: pickKept(synthesize().toJSON() as Template), items, manifest, records })
} finally {
  await scripted.stop()
  await emulator.stop()
}
