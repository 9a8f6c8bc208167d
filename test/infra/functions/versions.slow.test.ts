import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { findResources, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const template = synthesize()
const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> }

const idOf = (type: string, name: string): string => {
  const prefix = `${toLogicalIdPrefix(name)}Function`
  const [id, ...others] = Object.keys(findResources(template, type)).filter((key) => key.startsWith(prefix))
  if (!id || others.length > 0) throw new Error(`Expected one ${type} of ${name}.`)
  return id
}

/** Types of resources that need a function and not one of its versions: a version itself, its alias, and metrics. */
const OF_FUNCTIONS = [
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Lambda::Alias',
  'AWS::Lambda::Version',
]

describe('a release of a function', () => {
  it.each(FUNCTION_NAMES)('is a version, to which the alias "live" points: %s', (name) => {
    const { Properties } =
      findResources(template, 'AWS::Lambda::Alias')[idOf('AWS::Lambda::Alias', name)] ?? {}
    expect(Properties).toEqual({
      Name: 'live',
      FunctionName: { Ref: idOf('AWS::Lambda::Function', name) },
      FunctionVersion: { 'Fn::GetAtt': [idOf('AWS::Lambda::Version', name), 'Version'] },
    })
  })

  it('is retained by later releases, but not if it fails', () => {
    const policies = Object.values(findResources(template, 'AWS::Lambda::Version')).map(
      ({ DeletionPolicy, UpdateReplacePolicy }) => [DeletionPolicy, UpdateReplacePolicy],
    )
    expect(policies).toEqual(FUNCTION_NAMES.map(() => ['RetainExceptOnCreate', 'Retain']))
  })

  it.each(FUNCTION_NAMES)('is all that invokes %s: nothing else refers to the function', (name) => {
    const id = JSON.stringify(idOf('AWS::Lambda::Function', name))
    const others = Object.entries(Resources).filter(([, resource]) => JSON.stringify(resource).includes(id))
    expect(
      [...new Set(others.map(([, { Type }]) => Type))].filter((type) => !OF_FUNCTIONS.includes(type)),
    ).toEqual([])
  })

  it('is another version only if the configuration of the function changes', () => {
    const versionsOf = (context: Record<string, unknown>) =>
      Object.keys(findResources(synthesize(context), 'AWS::Lambda::Version'))
    const changed = (context: Record<string, unknown>) =>
      versionsOf(context)
        .filter((id) => !versionsOf({}).includes(id))
        .map((id) => id.replace(/Function.*/, ''))
    expect(changed({ throttlingRate: 7 })).toEqual([])
    expect(changed({ httpPublishing: true })).toEqual(['GetMe', 'PublishAgent'])
  })
})
