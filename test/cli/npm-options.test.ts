import { describe, expect, it } from 'vitest'
import { assertNoOptionsOfNpm, createProgram } from '../../cli/program.ts'

const program = await createProgram({})
const check = (args: string[], environment: NodeJS.ProcessEnv) => () =>
  assertNoOptionsOfNpm(program, args, environment)

describe('options that npm took because -- was forgotten', () => {
  it.each([
    [['publish', 'agents/shout'], { npm_config_draft: 'true' }, '--draft', 'publish agents/shout --draft'],
    [['publish', 'agents/shout'], { npm_config_test: 'true' }, '--test', 'publish agents/shout --test'],
    [
      ['run', 'shout', '5'],
      { npm_config_max_cost: 'true' },
      '--max-cost',
      'run shout 5 --max-cost <dollars>',
    ],
    [['batches', 'results', 'b'], { npm_config_wait: '' }, '--no-wait', 'batches results b --no-wait'],
    [['tokens', 'create'], { npm_config_scopes: 'read' }, '--scopes', 'tokens create --scopes <list>'],
    [['list'], { npm_config_json: 'true' }, '--json', 'list --json'],
  ])('are an error that says what to type: %j', (args, environment, option, command) => {
    const message = `npm took ${option} for itself, and nothing was done. Type: npx agent-execution ${command}`
    expect(check(args, environment)).toThrow(message)
  })

  it.each([
    ['npm sets always', ['run', 'shout'], { npm_config_cache: '/root/.npm', npm_config_yes: 'true' }],
    ['another command has', ['list'], { npm_config_draft: 'true' }],
    ['are given after -- as well', ['publish', 'a', '--draft'], { npm_config_draft: 'true' }],
    ['are given after -- with a value', ['run', 'a', '--max-cost=5'], { npm_config_max_cost: '5' }],
  ])('are no error if %s', (_, args, environment) => {
    expect(check(args, environment)).not.toThrow()
  })
})
