import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { acquireLock, type LockHolder } from '../../../local/emulators/database-lock.ts'
import { openDatabase } from '../../../local/emulators/open-database.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const writeLock = (holder: LockHolder) => writeFileSync(join(folder, 'store.lock'), JSON.stringify(holder))

function endpointIn(lockFile: string): string | null | undefined {
  try {
    return (JSON.parse(readFileSync(lockFile, 'utf8')) as LockHolder).endpoint
  } catch {
    return undefined
  }
}

describe('acquireLock', () => {
  it('lets only one process take over a stale lock', async () => {
    for (let round = 0; round < 100; round++) {
      writeLock({ pid: 2 ** 30, isShortLived: false, endpoint: null })
      const acquire = () => acquireLock(folder, { isShortLived: true })
      const results = await Promise.all(Array.from({ length: 8 }, acquire))
      const locks = results.filter((result) => 'release' in result)
      expect(locks).toHaveLength(1)
      await locks[0]?.release()
    }
  })

  it('takes over the lock of a holder whose endpoint is closed, even if its process id is in use', async () => {
    writeLock({ pid: process.pid, isShortLived: false, endpoint: 'http://127.0.0.1:1' })
    const lock = await acquireLock(folder, { isShortLived: false })
    expect(lock).toHaveProperty('release')
    if ('release' in lock) await lock.release()
  })

  it('does not take over the lock of a holder that is stopping its emulator', async () => {
    const environment = { DATA_DIR: join(folder, 'stopping') }
    const database = await openDatabase('command', environment)
    const lockFile = join(environment.DATA_DIR, 'store.lock')
    const stopping = database.stop()
    await vi.waitUntil(() => endpointIn(lockFile) === null, { interval: 1 })
    const other = await acquireLock(environment.DATA_DIR, { isShortLived: true })
    expect(other).toMatchObject({ pid: process.pid, endpoint: null })
    await stopping
  })

  it('returns the live holder', async () => {
    const lock = await acquireLock(folder, { isShortLived: true })
    expect(await acquireLock(folder, { isShortLived: false })).toEqual({
      pid: process.pid,
      isShortLived: true,
      endpoint: null,
    })
    if ('release' in lock) await lock.release()
  })
})
