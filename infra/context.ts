import type { Node } from 'constructs'

/**
 * A switch of the CDK context, on unless it is turned off. `cdk.json` gives a boolean, `--context` a text.
 * @throws an Error that names the switch for any other value
 */
export function isOn(node: Node, name: string): boolean {
  const value = String(node.tryGetContext(name) ?? true)
  if (value !== 'true' && value !== 'false') {
    throw new Error(`The context value ${name} is "${value}"; it must be true or false.`)
  }
  return value === 'true'
}
