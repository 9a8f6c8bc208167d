import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badFolders } from './bad-documents.ts'
import { inFolder, newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

describe('publish of a folder that is wrong', () => {
  it.concurrent.each(badFolders)(
    'names file, line and field: $name',
    async ({ name, folder = 'foo', files, says }) => {
      const place = name.replaceAll(/\W+/g, '-')
      cli.write(inFolder(`${place}/${folder}`, files as Record<string, string>))
      cli.write({ [`${place}/.keep`]: '' })
      const { code, stdout, stderr } = await cli.run(['publish', folder], { cwd: `${cli.folder}/${place}` })
      // Progress, on a slow machine, is no refusal.
      const lines = stderr
        .trimEnd()
        .split('\n')
        .filter((line) => !line.endsWith('…'))
      expect(lines.slice(0, -1)).toEqual(says)
      expect(lines.at(-1)).toMatch(/^Nothing was published: (one problem|\d+ problems)\.$/)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    },
  )

  it('opens no store', () => expect(existsSync(cli.dataDir)).toBe(false))

  it('says it as one JSON document', async () => {
    cli.write({
      'json/agent.md': '---\ncode: true\ninput: {}\noutput: {}\n---\n',
      'json/agent.ts': 'export default 1\n',
    })
    const problem = {
      file: 'json/agent.md',
      line: 2,
      field: 'title',
      message: 'is missing; it must be a text',
    }
    expect(await cli.json(['publish', 'json'], { code: 1 })).toEqual({
      error: { message: 'Nothing was published: one problem.', problems: [problem] },
    })
  })
})

describe('input of a run that cannot be used', () => {
  beforeAll(() =>
    cli.write({
      'list.json': '[]',
      'cut.json': '{"a": ',
      'latin.json': Buffer.from('{"a":"\xe9"}', 'latin1'),
    }),
  )

  it.each([
    ['nowhere.json', 'nowhere.json: there is no such file.'],
    ['.', '.: cannot be read: EISDIR: illegal operation on a directory, read'],
    ['list.json', 'list.json: must hold a JSON object with the input fields.'],
    ['cut.json', 'cut.json: is not JSON: Unexpected end of JSON input'],
    ['latin.json', 'latin.json: is not UTF-8 text.'],
  ])('%s is refused before the store is opened', async (file, says) => {
    expect(await cli.run(['run', 'foo', '--input', file])).toEqual({
      code: 1,
      stdout: '',
      stderr: `${says}\n`,
    })
    expect(existsSync(cli.dataDir)).toBe(false)
  })

  it.each([
    ['', 'standard input: is not JSON: it is empty'],
    ['null', 'standard input: must hold a JSON object with the input fields.'],
    [`{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'standard input: nests deeper than 100 levels.'],
    [`{"a":"${'x'.repeat(6_000_000)}"}`, 'standard input: is larger than 6000000 bytes.'],
  ])('standard input %#.8s is refused', async (stdin, says) => {
    const error = { message: says }
    expect(await cli.json(['run', 'foo', '--input', '-'], { stdin, code: 1 })).toEqual({ error })
  })
})
