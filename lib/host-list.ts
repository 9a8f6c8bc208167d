const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

export const HOST_LIST_RULE =
  'hosts separated by commas, such as `receiver.internal:8080`; without a port, every port of the host'

/** The setting `webhookHosts`. @throws an Error that names the host */
export function parseHosts(text: string): string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== '')
  const invalid = hosts.find((host) => !HOST.test(host) || !URL.canParse(`https://${host}`))
  if (invalid !== undefined)
    throw new Error(`contains "${invalid}"; it must have ${HOST_LIST_RULE.replaceAll('`', '')}.`)
  return hosts
}
