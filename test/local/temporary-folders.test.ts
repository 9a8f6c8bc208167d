import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { removeStaleFolders } from '../../local/temporary-folders.ts'

const parent = mkdtempSync(join(tmpdir(), 'aes-stale-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

const { pid: ended } = spawnSync('true')

it('the temporary folders of ended processes are removed, and no others', async () => {
  const create = (name: string, mode = 0o700) => {
    mkdirSync(join(parent, name))
    writeFileSync(join(parent, name, 'file'), '')
    chmodSync(join(parent, name), mode)
  }
  create(`agent-code-${ended}-aaaaaa`, 0o500)
  create(`agent-load-${ended}-aaaaaa`)
  create(`aes-types-${ended}-aaaaaa`)
  create(`aes-${ended}-aaaaaa`)
  const others = ['aes-service', `other-${ended}-aaaaaa`]
  const kept = [`aes-${process.pid}-aaaaaa`, `aes-${ended}-served`, ...others].sort()
  for (const name of kept) create(name)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(parent, `aes-${ended}-served`, 'socket'), resolve))
  await removeStaleFolders(parent)
  expect(readdirSync(parent).sort()).toEqual(kept)
  server.close()
})
