import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { type PackageName, packAll } from '../../../packages/pack.ts'
import { findResource } from '../../infra/synthesize.ts'
import { makeJourney } from '../../packages/journey.ts'
import { newProject, readTemplate, shellWith } from '../../packages/packages.ts'

/** The oldest that is enough, and the first LTS of the next. npm installs them once (240 MB). */
const NODE_VERSIONS = ['22.14.0', '24.0.0']
const TOOLS = ['pnpm@10.34.5']

const run = promisify(execFile)
const cache = join(process.cwd(), 'node_modules/.cache/packages')
const packed = mkdtempSync(join(tmpdir(), 'aes-packed-'))
let tarballs: Record<PackageName, string>

const nodeOf = (version: string) => join(cache, version, 'node_modules/node/bin/node')

async function installOnce(folder: string, packages: string[]): Promise<void> {
  if (existsSync(join(folder, 'node_modules'))) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder })
}

beforeAll(async () => {
  tarballs = await packAll(packed)
  await installOnce(join(cache, 'tools'), TOOLS)
  for (const version of NODE_VERSIONS) await installOnce(join(cache, version), [`node@${version}`])
})
afterAll(() => rmSync(packed, { recursive: true, force: true }))

/** A project in which the packages are installed. */
async function install(command: string[], manifest: object, node: string, ...packages: string[]) {
  const project = newProject(manifest)
  onTestFinished(project.remove)
  const environment = shellWith(node)
  const [program = '', ...args] = command
  await run(program, [...args, ...packages, ...Object.values(tarballs)], {
    cwd: project.folder,
    env: environment,
  })
  return { folder: project.folder, environment }
}

const NPM = ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund']

describe.each(NODE_VERSIONS)('on Node.js %s', (version) => {
  it('npm installs what a new user needs on the first day', async () => {
    await makeJourney({ ...(await install(NPM, {}, nodeOf(version))), isLong: true })
  })

  it('a TypeScript project with "type": "commonjs" does the same, and its code is checked', async () => {
    const packages = ['typescript@5.9', '@types/node@22']
    const project = await install(NPM, { type: 'commonjs' }, nodeOf(version), ...packages)
    const compilerOptions = {
      module: 'commonjs',
      target: 'es2022',
      strict: true,
      verbatimModuleSyntax: false,
    }
    writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await makeJourney({ ...project, isLong: true })
    const code = join(project.folder, 'agents/count-words/agent.ts')
    writeFileSync(code, readFileSync(code, 'utf8').replace('words: ', 'words: "many" + '))
    const options = { cwd: project.folder, env: project.environment }
    const publishing = run('npx', ['agent-execution', 'publish', 'agents/count-words'], options)
    await expect(publishing).rejects.toMatchObject({
      stderr: expect.stringContaining("Type 'string' is not assignable to type 'number'"),
    })
    const client = run('node', ['-p', "typeof require('agent-execution-client').Client"], options)
    expect((await client).stdout).toBe('function\n')
  })
})

it('pnpm installs the same', async () => {
  const pnpm = join(cache, 'tools/node_modules/.bin/pnpm')
  // Unlike npm, it looks in the registry for what a package depends on, even if the project has it.
  const overrides = { 'agent-execution-service': `file:${tarballs['agent-execution-service']}` }
  const project = await install([pnpm, 'add', '--prefer-offline'], { pnpm: { overrides } }, process.execPath)
  await makeJourney({ ...project, runner: `${pnpm} exec`, isLong: true })
})

it('examples/cdk is a project of its own, which cdk synthesizes without an account', async () => {
  const manifest = JSON.parse(readFileSync('examples/cdk/package.json', 'utf8'))
  const { 'agent-execution-service': _, ...dependencies } = manifest.dependencies
  const project = await install(NPM, { ...manifest, dependencies }, process.execPath)
  cpSync('examples/cdk/app.ts', join(project.folder, 'app.ts'))
  await run('npx', ['cdk', 'synth', '--quiet', '--app', 'node app.ts'], {
    cwd: project.folder,
    env: project.environment,
  })
  const shop = readTemplate(join(project.folder, 'cdk.out'), 'Shop')
  shop.hasResourceProperties('AWS::Lambda::Function', { FunctionName: 'agent-tool-find-order' })
  shop.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length + 1)
  expect(findResource(shop, 'AWS::ApiGateway::RestApi').Properties.Name).toBe('shop-agents')
  const alarms = Object.values(shop.findResources('AWS::CloudWatch::Alarm'))
  expect(alarms.length).toBeGreaterThan(0)
  for (const { Properties } of alarms)
    expect(Properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^Pager/) })
  expect(JSON.stringify(shop.findOutputs('AgentsUrl'))).toContain('.execute-api.')
})
