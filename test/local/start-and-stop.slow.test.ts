import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { startEmbeddedDynamoDB } from '../../local/emulators/start-emulators.ts'
import { startDynalite } from '../support/service/port-emulators.ts'
import { startService } from '../support/service/start-service.ts'

const root = mkdtempSync(join(tmpdir(), 'aes-start-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const newFolder = () => mkdtempSync(join(root, 'data-'))

describe('npm start', () => {
  it('lists all invalid variables in one message, before it opens anything', async () => {
    const environment = {
      PORT: 'http',
      MAX_OPEN_EXECUTIONS: 'abc',
      MAX_WAIT_DAYS: '366',
      SYNC_DEADLINE_SECONDS: 'abc',
      DEFAULT_MODEL: 'gpt-5',
    }
    const dataDir = join(newFolder(), 'new')
    const error: Error = await startService({ dataDir, environment }).then(
      () => expect.fail('The service started.'),
      (reason) => reason,
    )
    const [, output = ''] = error.message.split('Output:\n')
    expect(output.trim().split('\n')).toEqual([
      'PORT is "http"; it must be an integer between 0 and 65535 (0 selects any free port).',
      expect.stringMatching(/^DEFAULT_MODEL: The model name "gpt-5" has no known provider\./),
      expect.stringMatching(/MAX_OPEN_EXECUTIONS is "abc"/),
      'MAX_WAIT_DAYS is "366"; it must be an integer from 1 to 365.',
      expect.stringMatching(/SYNC_DEADLINE_SECONDS is "abc"/),
    ])
  })

  it('prints no warnings of its libraries, and says only that it stops when nothing is in progress', async () => {
    const service = await startService({ dataDir: newFolder() })
    expect(await service.stop()).toBe(0)
    expect(service.stdout()).toMatch(/^Stopping\.$/m)
    expect(service.output()).toContain('Try it:')
    expect(service.output()).not.toMatch(/warn/i)
  })

  it('names a data folder that cannot be written, and the cause', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    const dataDir = join(file, 'data')
    await expect(startService({ dataDir })).rejects.toThrow(
      new RegExp(`Cannot write the data folder ${dataDir} \\(DATA_DIR\\): ENOTDIR`),
    )
  })
})

/** What an emulator has to start. */
const MAX_START_MS = 10_000

describe('a corrupt database', () => {
  const failsAtOnce = async (starting: Promise<unknown>, message: RegExp) => {
    const startedAt = performance.now()
    await expect(starting).rejects.toThrow(message)
    expect(performance.now() - startedAt).toBeLessThan(MAX_START_MS)
  }

  it('of dynalite is reported at once, with its folder and the cause', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'dynalite'))
    writeFileSync(join(folder, 'dynalite', 'CURRENT'), 'not a manifest')
    await failsAtOnce(startDynalite(folder), /Cannot open the database \S+\/dynalite: Corruption/)
  })

  // The binary of dynoxide is installed on linux-x64 only; elsewhere the service uses dynalite.
  it.runIf(process.platform === 'linux' && process.arch === 'x64')(
    'of dynoxide is reported at once, with its file and the cause',
    async () => {
      const folder = newFolder()
      writeFileSync(join(folder, 'dynoxide.sqlite'), 'not a database')
      await failsAtOnce(
        startEmbeddedDynamoDB(folder),
        /Cannot open the database \S+\/dynoxide\.sqlite: .*not a valid SQLite database/,
      )
    },
  )
})

describe('a Node.js that cannot run TypeScript', () => {
  it.each([
    ['local/start.mjs', 'npm start'],
    ['cli/main.mjs', 'npm run agents'],
  ])('prints what to do: %s', async (file, command) => {
    const started = promisify(execFile)(process.execPath, ['--no-experimental-strip-types', file])
    await expect(started).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(command) })
    await expect(started).rejects.toMatchObject({ stderr: expect.not.stringMatching(/^\s+at /m) })
  })
})
