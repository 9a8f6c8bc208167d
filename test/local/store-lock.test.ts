import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { takeStore } from '../../local/store-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('takeStore', () => {
  it('gives the store of a dead holder to one of many who want it at once', async () => {
    for (let round = 0; round < 100; round++) {
      writeFileSync(
        join(folder, 'store.lock'),
        JSON.stringify({ pid: 2 ** 30, isPassing: false, endpoint: null }),
      )
      const results = await Promise.all(Array.from({ length: 8 }, () => takeStore(folder, true)))
      const locks = results.filter((result) => 'release' in result)
      expect(locks).toHaveLength(1)
      await locks[0]?.release()
    }
  })

  it('takes a holder whose endpoint is closed for dead, though its process id is in use', async () => {
    const holder = { pid: process.pid, isPassing: false, endpoint: 'http://127.0.0.1:1' }
    writeFileSync(join(folder, 'store.lock'), JSON.stringify(holder))
    const taken = await takeStore(folder, false)
    expect(taken).toHaveProperty('release')
    if ('release' in taken) await taken.release()
  })
})
