import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { describe, expect, it } from 'vitest'
import { AgentExecutionService, type AgentExecutionServiceProps } from '../../infra/index.ts'
import { parseProps, readSettings, type SettingProps } from '../../infra/settings.ts'
import { findResources, withApp, withStack } from './synthesize.ts'

const ALL = { corsOrigins: '*', kms: true, webAcl: true, alarmSubscriptions: 'ops@example.com' }

/** Services with every option do not always fit into one stack. */
const NO_LIMIT = { '@aws-cdk/core:stackResourceLimit': 0 }

/** Creates services by id in one stack of an app without context. */
const withServices = <T>(
  services: Record<string, AgentExecutionServiceProps>,
  use: (stack: Stack, services: AgentExecutionService[]) => T,
): T =>
  withApp(NO_LIMIT, (app, bundles) => {
    const stack = new Stack(app, 'Shop')
    const created = Object.entries(services).map(
      ([id, props]) => new AgentExecutionService(stack, id, { ...props, bundles }),
    )
    return use(stack, created)
  })

/** Every name in the template that has to be unique in an account, or that separates metrics and secrets. */
const findNames = (template: Template, type: string, property: string): unknown[] =>
  Object.values(findResources(template, type)).map(({ Properties }) =>
    property.split('.').reduce((value, key) => value?.[key], Properties),
  )

describe('AgentExecutionService', () => {
  it('offers its URL, table, queues, alarms, API and functions', () => {
    withServices({ Agents: {} }, (stack, [service]) => {
      if (!service) throw new Error('No service was created.')
      const { url, table, queue, deadLetterQueue, alarms, api, functions, domainTarget } = service
      const ids = Object.keys(Template.fromStack(stack).toJSON().Resources)
      for (const { node } of [table, queue, deadLetterQueue, api, functions['run-agent'].function, ...alarms])
        expect(ids).toContain(stack.getLogicalId(node.defaultChild as never))
      expect(stack.resolve(url)['Fn::Join'][1]).toContain('.execute-api.')
      expect(domainTarget).toBeNull()
    })
  })

  it.each([
    ['Agents', /^Shop-Agents-[0-9A-F]{8}$/],
    ['Default', /^Shop$/],
    [`A${'x'.repeat(200)}`, /^Shop-.{95}$/],
    ['a_b.c é', /^Shop-abc-[0-9A-F]{8}$/],
  ])('with the id %s has a name that starts with that of the stack', (id, expected) => {
    withServices({ [id]: {} }, (_stack, [service]) => expect(service?.name).toMatch(expected))
  })

  it('can be there twice in a stack: no name is the same', () => {
    withServices({ First: ALL, Second: { ...ALL, name: 'second' } }, (stack, [first, second]) => {
      const template = Template.fromStack(stack)
      const names = [
        ...findNames(template, 'AWS::ApiGateway::RestApi', 'Name'),
        ...findNames(template, 'AWS::CloudWatch::Alarm', 'AlarmName'),
        ...findNames(template, 'AWS::CloudWatch::Dashboard', 'DashboardName'),
        ...findNames(template, 'AWS::WAFv2::WebACL', 'VisibilityConfig.MetricName'),
      ].map((name) => JSON.stringify(name))
      expect(new Set(names).size).toBe(names.length)
      const [own, other] = [first?.name ?? '', second?.name ?? '']
      for (const name of names) expect(name.includes(own) !== name.includes(other)).toBe(true)
      const variables = Object.values(findResources(template, 'AWS::Lambda::Function')).flatMap(
        ({ Properties }) => Properties.Environment?.Variables ?? [],
      )
      const countBy = (variable: string, value: string) =>
        variables.filter((each) => each[variable] === value).length
      for (const name of [own, other]) {
        expect(countBy('METRICS_NAMESPACE', name)).toBe(variables.length / 2)
        expect(countBy('SECRETS_PREFIX', `/aes/${name}/secrets`)).toBe(3)
      }
      const namespace = 'MetricTransformations.0.MetricNamespace'
      const filters = findNames(template, 'AWS::Logs::MetricFilter', namespace)
      expect([...new Set(filters)].sort()).toEqual([own, other].sort())
    })
  })

  it('rejects the name of another service of the stack', () => {
    const services = { First: { name: 'agents' }, Second: { name: 'agents' } }
    const message = 'Invalid props: another service of the stack has the name agents.'
    expect(() => withServices(services, () => undefined)).toThrow(message)
  })
})

describe('the props', () => {
  const parse = (props: Record<string, unknown>) =>
    parseProps({ name: 'agents', ...props } as SettingProps & { name: string })

  it('are the settings of the stack, with the same defaults', () => {
    const { stackName: _, ...defaults } = withStack({}, ({ node }) => readSettings(node))
    expect(parse({})).toEqual({ name: 'agents', ...defaults })
  })

  it.each([
    [{ monitorng: true }, 'Unknown prop monitorng; did you mean monitoring?'],
    [{ stackName: 'x' }, /^Unknown prop stackName; /],
    [{ name: 'my agents' }, 'Invalid prop name: "my agents"'],
    [{ corsOrigins: 'https://$' + '{AWS::Region}.example' }, /^Invalid prop corsOrigins: /],
  ])('%j are rejected like context', (props, message) => {
    expect(() => parse(props)).toThrow(message)
  })

  it('accept the certificate of the same app, and no other value that is known only during deployment', () => {
    withServices({}, (stack) => {
      const { certificateArn } = new Certificate(stack, 'Certificate', { domainName: 'agents.example.com' })
      const domain = { domainName: 'agents.example.com', certificateArn }
      expect(parse(domain)).toMatchObject(domain)
      expect(() => parse({ alarmSubscriptions: stack.account })).toThrow(
        /alarmSubscriptions: .* It is known only during deployment\.$/,
      )
    })
  })
})
