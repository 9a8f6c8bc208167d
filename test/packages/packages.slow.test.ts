import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { assertVersions, PACKAGE_NAMES, type PackageName, packAll } from '../../packages/pack.ts'
import { makeJourney } from './journey.ts'
import { newProject, readTemplate, shellWith } from './packages.ts'

const MAX_INSTALLED_MB = 150
const BLOCK_BYTES = 512

const run = promisify(execFile)
const packed = mkdtempSync(join(tmpdir(), 'aes-packed-'))
const project = newProject()
const environment = shellWith()
const installed = join(project.folder, 'node_modules/agent-execution-service')
let tarballs: Record<PackageName, string>

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

beforeAll(async () => {
  tarballs = await packAll(packed)
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...Object.values(tarballs)]
  await run('npm', args, { cwd: project.folder, env: environment })
})
afterAll(() => {
  rmSync(packed, { recursive: true, force: true })
  project.remove()
})

describe.each(PACKAGE_NAMES)('%s', (name) => {
  it('is found valid by publint and arethetypeswrong', async () => {
    const data = readFileSync(tarballs[name])
    const { buffer, byteOffset, byteLength } = data
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
    const { messages, pkg } = await publint({ pack: { tarball } })
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([])
    const result = await checkPackage(createPackageFromTarballData(data))
    expect('problems' in result ? result.problems : []).toEqual([])
  })
})

it('a release is refused if a package has another version than its tag', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  assertVersions(`v${version}`)
  for (const tag of [version, `v${version}-rc.1`, 'v', `v${version}.0`])
    expect(() => assertVersions(tag), tag).toThrow(
      `The tag is ${tag}, and package.json of agent-execution has`,
    )
})

describe('the installed service', () => {
  it(`takes at most ${MAX_INSTALLED_MB} MB, without the CDK and without tools for development`, () => {
    const modules = join(project.folder, 'node_modules')
    // As `du` counts: a file with two names once.
    const blocks = new Map(filesIn(modules).map((file) => [statSync(file).ino, statSync(file).blocks]))
    const bytes = [...blocks.values()].reduce((sum, each) => sum + each * BLOCK_BYTES, 0)
    expect(bytes / 1e6).toBeLessThanOrEqual(MAX_INSTALLED_MB)
    for (const name of ['aws-cdk-lib', 'typescript', 'vitest', 'node', '@biomejs'])
      expect(existsSync(join(modules, name)), name).toBe(false)
  })

  it('has no TypeScript but declarations, and imports only what it depends on', () => {
    const files = filesIn(installed).filter((file) => !file.includes('/.cache/'))
    expect(files.filter((file) => /(?<!\.d)\.[cm]?tsx?$/.test(file))).toEqual([])
    const { dependencies, optionalDependencies, peerDependencies, name } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    )
    const known = { ...dependencies, ...optionalDependencies, ...peerDependencies, [name]: '' }
    const imported = files
      .filter((file) => /\.[cm]?js$/.test(file) && !file.includes('/dist/console/'))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b.*? from '([^'.]+[^']*)'/gm),
      ])
      .map(([, specifier = '']) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
    expect(imported.length).toBeGreaterThan(100)
    expect([...new Set(imported)].filter((each) => !isBuiltin(each) && !(each in known))).toEqual([])
  })

  it('does what a new user does on the first day', async () => {
    await makeJourney({ folder: project.folder, environment })
  })

  it('is deployed by its own app, which init copies', async () => {
    for (const name of ['aws-cdk', 'aws-cdk-lib', 'constructs'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(project.folder, 'node_modules', name))
    await run('npx', ['agent-execution', 'init', '--cdk'], { cwd: project.folder, env: environment })
    const copied = readFileSync(join(project.folder, 'cdk-app.mjs'), 'utf8')
    expect(copied).toBe(readFileSync(join(installed, 'dist/packages/cdk-app.mjs'), 'utf8'))
    const cdk = JSON.parse(readFileSync(join(project.folder, 'cdk.json'), 'utf8'))
    expect(cdk).toEqual({ app: 'node cdk-app.mjs' })

    const CDK_OUTDIR = join(project.folder, 'cdk.out')
    // The CDK finds no credentials, and stops between synthesis and deployment.
    const kept = Object.entries(environment).filter(([name]) => !name.startsWith('AWS_'))
    const env = { ...Object.fromEntries(kept), HOME: project.folder, AWS_EC2_METADATA_DISABLED: 'true' }
    const args = ['agent-execution', 'deploy', '--context', 'stageName=v9', '--output', CDK_OUTDIR]
    await expect(run('npx', args, { cwd: project.folder, env })).rejects.toThrow()
    for (const name of FUNCTION_NAMES)
      expect(existsSync(join(CDK_OUTDIR, 'functions', name, 'index.mjs')), name).toBe(true)
    const template = readTemplate(CDK_OUTDIR, 'AgentExecutionService')
    template.hasResourceProperties('AWS::ApiGateway::Stage', { StageName: 'v9' })
    template.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length)
    for (const name of ['BaseUrl', 'TableName']) template.hasOutput(name, {})
  })
})
