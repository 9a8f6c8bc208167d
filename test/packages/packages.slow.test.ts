import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { Template } from 'aws-cdk-lib/assertions'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { findResource } from '../infra/synthesize.ts'
import { makeJourney } from './journey.ts'
import { newProject, PACKAGE_NAMES, type PackageName, packAll, shellWith } from './packages.ts'

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

  it('can be published', async () => {
    const { stdout } = await run('npm', ['publish', '--dry-run', tarballs[name]], { env: environment })
    expect(stdout).toContain(`+ ${name}@`)
  })

  it('has the version of the others', () => {
    const read = (each: PackageName) =>
      JSON.parse(readFileSync(join(project.folder, 'node_modules', each, 'package.json'), 'utf8'))
    const { version, dependencies = {}, private: isPrivate } = read(name)
    expect([version, isPrivate]).toEqual([read('agent-execution-service').version, undefined])
    expect(dependencies['agent-execution-service'] ?? version).toBe(version)
  })
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

  it('is deployed by the app that init writes, and by an app that has more', async () => {
    for (const name of ['aws-cdk-lib', 'constructs'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(project.folder, 'node_modules', name))
    const app = readFileSync(join(installed, 'dist/packages/cdk-app.mjs'), 'utf8')
    await run('npx', ['agent-execution', 'init', '--cdk'], { cwd: project.folder, env: environment })
    expect(readFileSync(join(project.folder, 'cdk-app.mjs'), 'utf8')).toBe(app)
    const cdk = JSON.parse(readFileSync(join(project.folder, 'cdk.json'), 'utf8'))
    expect(cdk).toEqual({ app: 'node cdk-app.mjs' })

    const synthesize = async (file: string, stack: string) => {
      const CDK_OUTDIR = join(project.folder, `${stack}.out`)
      await run('node', [file], { cwd: project.folder, env: { ...environment, CDK_OUTDIR } })
      for (const name of FUNCTION_NAMES)
        expect(existsSync(join(CDK_OUTDIR, 'functions', name, 'index.mjs')), name).toBe(true)
      return Template.fromJSON(JSON.parse(readFileSync(join(CDK_OUTDIR, `${stack}.template.json`), 'utf8')))
    }
    cpSync('examples/cdk/app.ts', join(project.folder, 'app.ts'))
    const [own, shop] = await Promise.all([
      synthesize('cdk-app.mjs', 'AgentExecutionService'),
      synthesize('app.ts', 'Shop'),
    ])
    own.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length)
    for (const name of ['BaseUrl', 'TableName']) own.hasOutput(name, {})

    shop.hasResourceProperties('AWS::Lambda::Function', { FunctionName: 'agent-tool-find-order' })
    shop.resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length + 1)
    expect(findResource(shop, 'AWS::ApiGateway::RestApi').Properties.Name).toBe('shop-agents')
    const alarms = Object.values(shop.findResources('AWS::CloudWatch::Alarm'))
    expect(alarms.length).toBeGreaterThan(0)
    for (const { Properties } of alarms)
      expect(Properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^Pager/) })
    expect(JSON.stringify(shop.findOutputs('AgentsUrl'))).toContain('.execute-api.')
  })
})
