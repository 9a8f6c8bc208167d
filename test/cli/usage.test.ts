import { CommanderError } from 'commander'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../../cli/program.ts'
import { newCli } from './cli.ts'

const cli = newCli()
beforeAll(() => void vi.stubEnv('DATA_DIR', cli.dataDir))
afterAll(cli.remove)

/** Parses in this process. Returns the printed text and the error. */
async function parse(args: string[]) {
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const program = await createProgram({ writeErr: print, writeOut: print })
  const error = await program.parseAsync(args, { from: 'user' }).catch((caught: unknown) => caught)
  return { printed, error }
}

describe('wrong usage', () => {
  it.each<[string, string]>([
    ['publsh x', "unknown command 'publsh'\n(Did you mean publish?)"],
    ['publish x --drft', "unknown option '--drft'\n(Did you mean --draft?)"],
    ['publish', "missing required argument 'folder'"],
    ['run foo', "required option '--input <file>' not specified"],
    ['run foo --input - --version 3', 'It must be a UUID.'],
    ['run foo --input - --tenant=', 'It must have 1 to 128 characters'],
    ['list x', "too many arguments for 'list'"],
    ['tokens create', "required option '--name <text>' not specified"],
    ['orgs create a --name b', 'name specified both as argument and with --name'],
    ...['0', '3651', '1.5'].map((days): [string, string] => [
      `tokens create --name a --expires=${days}`,
      'It must be a whole number of days from 1 to 3650.',
    ]),
  ])('rejects "%s"', async (line, message) => {
    const { printed, error } = await parse(line.split(' '))
    expect(error).toBeInstanceOf(CommanderError)
    expect(printed).toContain(message)
  })

  it('prints one JSON document with --json', async () => {
    expect(await cli.json(['publish', '--drft'], { code: 2 })).toEqual({
      error: { message: "unknown option '--drft'\n(Did you mean --draft?)" },
    })
    expect(await cli.json([], { code: 2 })).toEqual({
      error: { message: 'No command specified. Use --help to list the commands.' },
    })
  })
})

describe('--help', () => {
  it.each(
    ['publish', 'list', 'show', 'versions', 'run', 'orgs create', 'orgs list'].concat(
      ['create', 'list', 'revoke'].map((verb) => `tokens ${verb}`),
    ),
  )('shows an example for %s', async (command) => {
    const { printed } = await parse([...command.split(' '), '--help'])
    expect(printed).toMatch(new RegExp(`Examples?:\\n  npx agent-execution ${command}`))
    expect(printed).toContain('--json')
  })
})
