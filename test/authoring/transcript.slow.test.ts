import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { newCli } from '../cli/cli.ts'

const PAGE = fileURLToPath(new URL('../../docs/authoring.md', import.meta.url))

const cli = newCli('.local')
mkdirSync(cli.dataDir)
afterAll(cli.remove)

/** `$ echo '{…}' | npx agent-execution run …`, and the output below it. */
const COMMAND =
  /^\$ (?:echo '(?<stdin>.*)' \| )?npx agent-execution (?<args>.*)\n(?<output>(?:(?!\$ ).*\n)*)/gm

/** Ids, times and the widths that depend on them differ from run to run. */
const normalize = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replaceAll(/\d+ ms/g, '… ms')
    .replaceAll(/ +/g, ' ')

it('prints what docs/authoring.md says, from init to a published agent in six commands', async () => {
  const [, transcript = ''] = /^```console\n([\s\S]*?)^```/m.exec(readFileSync(PAGE, 'utf8')) ?? []
  const commands = [...transcript.matchAll(COMMAND)]
  expect(commands.map(({ groups }) => groups?.args?.split(' ')[0])).toEqual([
    'init',
    'check',
    'run',
    'test',
    'publish',
    'run',
  ])
  for (const { groups: { stdin = '', args = '', output = '' } = {} } of commands) {
    const { code, stdout } = await cli.run(args.split(' '), { stdin })
    expect({ args, code }).toEqual({ args, code: 0 })
    const [expected = '', isCut] = normalize(output).split('…\n')
    const printed = normalize(stdout)
    expect(isCut === undefined ? printed : printed.slice(0, expected.length)).toBe(expected)
  }
})
