import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { type Kind, newAgentFiles } from '../../authoring/templates.ts'
import { isSlug } from '../../lib/core/ids.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, shellQuote } from '../format.ts'
import { CDK_APP } from './deploy.ts'

type Options = { [Name in Kind | 'cdk']?: true } & { folder?: string }

export function addInitCommand(program: CliCommand): void {
  program
    .command('init')
    .description('Create the folder of a new agent that runs, with a test case.')
    .argument('[slug]', 'lowercase words joined by hyphens', parseSlug)
    .option('--code', 'an agent that runs code in TypeScript (default)')
    .addOption(new Option('--model', 'an agent that instructs a model').conflicts('code'))
    .addOption(new Option('--remote', 'an agent at a URL, in any language').conflicts(['code', 'model']))
    .addOption(
      new Option('--scorer', 'a model agent that scores the outputs of other agents').conflicts([
        'code',
        'model',
        'remote',
      ]),
    )
    .option('--folder <path>', 'where to create it; default: agents/<slug>')
    .option('--cdk', 'the CDK app that deploys the service, to change it, in place of an agent')
    .examples(
      'init count-words',
      'init detect-language --model',
      'init refund --remote',
      'init faithful --scorer',
      'init --cdk',
    )
    .run<Options>(async (options, [slug = '']) => {
      if (options.cdk) return copyCdkApp(slug)
      if (slug === '') throw new UserError('Say how the agent is called: init <slug>.')
      const folder = options.folder ?? join('agents', slug)
      const kind = (['model', 'remote', 'scorer'] as const).find((name) => options[name]) ?? 'code'
      const files = newAgentFiles(slug, kind)
      await writeFiles(folder, files)
      return { json: { slug, folder, files: Object.keys(files) }, text: describe(folder, kind, files) }
    })
}

function parseSlug(text: string): string {
  if (isSlug(text)) return text
  throw new InvalidArgumentError(
    'It must be lowercase words joined by hyphens, at most 64 characters, and not a UUID.',
  )
}

/** @throws UserError if there is an app */
async function copyCdkApp(slug: string): Promise<Result> {
  if (slug !== '') throw new UserError('--cdk creates no agent.')
  const files = { 'cdk-app.mjs': await readFile(CDK_APP, 'utf8'), 'cdk.json': CDK_JSON }
  const found = Object.keys(files).find((name) => existsSync(name))
  if (found) throw new UserError(`${found} already exists.`)
  for (const [name, text] of Object.entries(files)) await writeFile(name, text, { flag: 'wx' })
  const names = Object.keys(files)
  return {
    json: { files: names },
    text: `Created ${names.join(' and ')}.\n\nDeploy it:   ${formatCommand({}, 'deploy')}`,
  }
}

const CDK_JSON = `${JSON.stringify({ app: 'node cdk-app.mjs' })}\n`

/** @throws UserError if the folder exists: nothing is overwritten */
async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  if (existsSync(folder)) throw new UserError(`${folder} already exists.`)
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, text] of Object.entries(files))
      await writeFile(join(folder, name), text, { flag: 'wx' })
  } catch (error) {
    throw new UserError(`Cannot create ${folder}: ${(error as Error).message}`)
  }
}

function describe(folder: string, kind: Kind, files: Record<string, string>): string {
  const path = shellQuote(folder)
  const model = 'Set DEFAULT_MODEL and the API key of its provider first, or start the service with them.'
  return [
    `Created ${folder} with ${Object.keys(files).join(', ')}.`,
    ...(kind === 'model' || kind === 'scorer' ? [model] : []),
    '',
    `Check it:    ${formatCommand({}, `check ${path}`)}`,
    `Test it:     ${formatCommand({}, `test ${path}`)}`,
    `Develop it:  ${formatCommand({}, `dev ${path}`)}`,
    `Publish it:  ${formatCommand({}, `publish ${path} --test`)}`,
  ].join('\n')
}
