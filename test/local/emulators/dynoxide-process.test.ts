import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startDynoxideProcess } from '../../../local/emulators/dynoxide-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-dynoxide-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A program in place of dynoxide. @param onLine the body of a function of a line that it receives */
function writeProgram(name: string, onLine: string): string {
  const file = join(folder, name)
  const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { ${onLine} })`
  writeFileSync(file, `#!${process.execPath}\n${script}\n`, { mode: 0o755 })
  return file
}

describe('a line on the standard output of dynoxide that is not a message', () => {
  it.each(['listening', '{"id":', 'null', '7', ''])('is skipped: %j', async (line) => {
    const answer = `JSON.stringify({ id: JSON.parse(line).id, result: { content: [{ text: '{}' }] } })`
    const program = writeProgram('talkative', `console.log(${JSON.stringify(line)}); console.log(${answer})`)
    const { call, stop } = await startDynoxideProcess(program, null)
    expect(await call('ListTables', {})).toEqual({ status: 200, body: '{}' })
    await stop()
  })

  it('instead of the first answer fails the start', async () => {
    const program = writeProgram('confused', `console.log('listening')`)
    const starting = startDynoxideProcess(program, null, { maxStartMs: 300 })
    await expect(starting).rejects.toThrow('dynoxide did not answer within 0.3 s.')
  })
})
