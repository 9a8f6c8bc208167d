import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile()

const lineOf = (name: string) => `${JSON.stringify({ item: { who: name, ideal: `Hello ${name}` } })}\n`
const PATHS = ['--input', 'name=item.who', '--expect', 'said=item.ideal']

const importInto = (folder: string, stdin: string, code = 0) =>
  cli.json(['cases', 'import', '-', '--folder', folder, ...PATHS], { stdin, code })

describe('cases import', () => {
  it('adds cases that run, and none of them twice', async () => {
    cli.write(inFolder('hello', greeter('Hello')))
    const imported = await importInto('hello', lineOf('Ada') + lineOf('Bo') + lineOf('Ada'))
    expect(imported).toEqual({ folder: 'hello', added: ['Ada', 'Bo'], skipped: 1 })
    expect(await importInto('hello', lineOf('Bo') + lineOf('ada!'))).toMatchObject({
      added: [expect.stringMatching(/^ada! \([0-9a-f]{8}\)$/)],
      skipped: 1,
    })
    expect(await cli.json(['test', 'hello', '--no-types'])).toMatchObject({ passed: 3, failed: 0 })
  })

  it('writes nothing if a line is bad, and lists the bad lines', async () => {
    cli.write(inFolder('whole', greeter('Hello')))
    const { error } = await importInto('whole', `${lineOf('Ada')}\n{\n{"item": {"who": 1}}\n`, 1)
    const message = 'Line 4: It has no item.ideal (--expect said=item.ideal).'
    const problems = [{ line: 3 }, { line: 4, message }]
    expect(error).toMatchObject({ message: 'Standard input has 2 bad lines.', problems })
    expect(existsSync(join(cli.folder, 'whole/cases.yaml'))).toBe(false)
  })

  it('refuses fields that the agent does not have', async () => {
    const outcome = await cli.run(['cases', 'import', '-', '--folder', 'hello', '--expect', 'sad=item.ideal'])
    expect(outcome.stderr).toBe('--expect sad: the agent has no such field. It has said.\n')
  })

  it('imports 1,000 lines, with texts that YAML and terminals would misread', async () => {
    cli.write(inFolder('many', greeter('Hello')))
    const names = ['- a: &x *y', '\u202Egnp.exe', '\u001B[31m', ' ', 'a\nb', 'مرحبا', 'x'.repeat(100_000)]
    const lines = [...names, ...Array.from({ length: 1_000 }, (_, index) => `n${index}`)].map(lineOf)
    expect((await importInto('many', lines.join(''))).added).toHaveLength(lines.length)
    expect(await importInto('many', lines.join(''))).toMatchObject({ added: [], skipped: lines.length })
    const text = readFileSync(join(cli.folder, 'many/cases.yaml'), 'utf8')
    expect(text).not.toContain('\u001B')
  })
})
