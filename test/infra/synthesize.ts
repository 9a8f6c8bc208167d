import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotations, App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { DISABLE_ASSET_STAGING_CONTEXT } from 'aws-cdk-lib/cx-api'
import { RootConstruct } from 'constructs'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { NO_DISCOVERY, NO_RETENTION } from '../../infra/service.ts'
import { readSettings } from '../../infra/settings.ts'
import { ServiceStack } from '../../infra/stack.ts'
import { readTemplate } from './template-cache.ts'

const { context: CONTEXT } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'))

export type Resource = {
  Properties: ReturnType<typeof JSON.parse>
  DependsOn?: string[]
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
}

const templates = new Map<string, Template>()

/** The template of the stack, as `cdk synth` creates it: once for the same settings, because that takes long. */
export function synthesize(context: Record<string, unknown> = {}): Template {
  const { node } = new RootConstruct()
  for (const [name, value] of Object.entries({ ...CONTEXT, ...context })) node.setContext(name, value)
  const key = JSON.stringify(readSettings(node))
  const template =
    templates.get(key) ??
    Template.fromJSON(readTemplate(key, () => withStack(context, (stack) => toTemplate(stack).toJSON())))
  templates.set(key, template)
  return template
}

/** Without the warnings that synthesizing would print. */
function toTemplate(stack: ServiceStack): Template {
  for (const id of [NO_RETENTION, NO_DISCOVERY]) Annotations.of(stack).acknowledgeWarning(id)
  return Template.fromStack(stack)
}

/** Creates the stack, and passes it to `use`. */
export const withStack = <T>(context: Record<string, unknown>, use: (stack: ServiceStack) => T): T =>
  withApp({ ...CONTEXT, ...context }, (app, bundles) => {
    const settings = readSettings(app.node)
    return use(new ServiceStack(app, settings.stackName, { bundles, settings }))
  })

/** Passes an app and empty bundles, whose contents do not affect templates, to `use`. */
export function withApp<T>(context: Record<string, unknown>, use: (app: App, bundles: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'aes-synth-'))
  try {
    for (const name of FUNCTION_NAMES) {
      mkdirSync(join(folder, 'bundles', name), { recursive: true })
      writeFileSync(join(folder, 'bundles', name, 'index.mjs'), `// ${name}`)
    }
    const app = new App({
      context: { ...context, [DISABLE_ASSET_STAGING_CONTEXT]: true },
      outdir: join(folder, 'out'),
      // Takes seconds; `npm run synth` includes it.
      builtinCloudFormationValidation: false,
      // Not part of the template.
      treeMetadata: false,
    })
    return use(app, join(folder, 'bundles'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Resources of a type by logical id. */
export const findResources = (template: Template, type: string) =>
  template.findResources(type) as Record<string, Resource>

/** The single resource of a type. @throws an Error when there is not exactly one */
export function findResource(template: Template, type: string): Resource {
  const [resource, ...others] = Object.values(findResources(template, type))
  if (!resource || others.length > 0) throw new Error(`Expected exactly one ${type}.`)
  return resource
}

/** The prefix of the logical ids of a function, its role, policy and log group: its name in Pascal case. */
export const toLogicalIdPrefix = (name: string) =>
  name
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('')

/** The resource of a type that belongs to a function. The CDK leaves `Logs` out where the name ends in it. */
export function findFunctionResource(template: Template, type: string, name: string): Resource {
  const pattern = new RegExp(`^${toLogicalIdPrefix(name)}(?:Shared)?(?:Function|Role|Logs|[0-9A-F]{8}$)`)
  const found = Object.entries(findResources(template, type)).filter(([id]) => pattern.test(id))
  const [entry] = found
  if (!entry || found.length > 1) throw new Error(`Expected one ${type} of ${name}, found ${found.length}.`)
  return entry[1]
}

/** The environment of a function. */
export const variablesOf = (template: Template, name: string): Record<string, unknown> =>
  findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment.Variables

/** The statements of the policy of a function. */
export const statementsOf = (template: Template, name: string): Statement[] =>
  findFunctionResource(template, 'AWS::IAM::Policy', name).Properties.PolicyDocument.Statement

export type Statement = {
  Effect: string
  Action: string | string[]
  Resource: unknown
  Condition?: Record<string, Record<string, string[]>>
}
