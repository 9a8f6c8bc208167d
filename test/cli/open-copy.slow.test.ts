import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { waitUntil } from '../support/processes/wait-until.ts'
import { newCli } from './cli.ts'

const cli = newCli()
const WAIT = fileURLToPath(new URL('../../agents/wait', import.meta.url))

afterAll(cli.remove)

describe('open without --stack', () => {
  it('ends what was in progress in a copy of the data folder, and nothing in the original', async () => {
    await cli.json(['publish', WAIT, '--no-types'])
    const running = cli.start(['run', 'wait', '--input', '-'], { stdin: '{"seconds":20}' })
    await waitUntil(() => /Running/.test(running.stderr()), { what: 'the run', limitMs: 20_000 })
    running.kill('SIGKILL')
    await running.ended
    // The emulator outlives its killed parent for a moment; SQLite removes this file when it closes the database.
    const log = join(cli.dataDir, 'dynoxide.sqlite-wal')
    await waitUntil(() => !existsSync(log), { what: 'the end of the emulator', limitMs: 20_000 })
    const copy = join(cli.folder, 'copy')
    cpSync(cli.dataDir, copy, { recursive: true })
    const inCopy = { environment: { DATA_DIR: copy } }
    expect(await cli.json(['open', 'list'], inCopy)).toMatchObject({
      open: 1,
      executions: [{ agent: 'wait', toolCalls: null, hasTools: true }],
    })
    expect(await cli.json(['open', 'end', '--all', '--force'], inCopy)).toMatchObject({ ended: 1 })
    expect(await cli.json(['open', 'list'], inCopy)).toMatchObject({ open: 0 })
    expect(await cli.json(['open', 'list'])).toMatchObject({ open: 1 })
  })
})
