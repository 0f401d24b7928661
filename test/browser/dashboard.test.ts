// The dashboard as people use it: in a real browser, for a shop with all controllers.
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DeploymentTargetClaim } from '../../src/api/targets.ts';
import type { Kind } from '../../src/kube/index.ts';
import { openDashboardShop } from '../dashboard/shop.ts';
import type { DashboardShop } from '../dashboard/shop.ts';
import { describeRequiring } from '../support/requirements.ts';
import { browserRequirement, startBrowser } from './chromium.ts';
import { visitsTo } from './visit.ts';

describeRequiring('the dashboard in a browser', [browserRequirement], () => {
  let browser: Browser;
  let shop: DashboardShop;
  const visits = visitsTo(() => ({ browser, url: shop.url }));
  const { open } = visits;

  beforeAll(async () => {
    [browser, shop] = await Promise.all([startBrowser(), openDashboardShop()]);
    await shop.environment('pr-7');
    await shop.environment('pr-3', 'nobody');
    await shop.create(DeploymentTargetClaim as unknown as Kind, {
      metadata: { name: 'my-claim', namespace: 'shop' },
      spec: { deploymentTargetClassName: 'isolated' },
    });
    await shop.untilState('pr-7', 'ready');
    await shop.untilState('pr-3', 'degraded');
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
  });
  const headline = (page: Page): Promise<string> => page.locator('h1').innerText();
  const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: `shop/${name}` });

  test('the overview starts with the environments that need attention, and updates live', async () => {
    const page = await open('/');
    await page.waitForFunction(() => /1 needs attention: pr-3/.test(document.querySelector('h1')!.textContent));
    await shop.environment('live', 'cart');
    await row(page, 'live').getByText('ready').waitFor();
    await row(page, 'live').getByText('isolated', { exact: true }).waitFor();
    await row(page, 'live').getByRole('button', { name: 'Copy a request to live' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "curl -H 'x-env: live' http://cart.shop:9080/",
    );
    await page.getByRole('complementary').getByText('live').first().waitFor();
  });

  test('an environment shows its graph, its timeline and its parts, and can be deleted', async () => {
    await shop.environment('going', 'reviews');
    await shop.untilState('going', 'ready');
    const page = await open('/environments/shop/going');
    await page.getByText('nobody else in the mesh is affected (proved').waitFor();
    expect(await headline(page)).toContain('Requests with x-env: going reach reviews:2');
    await page.locator('.node.clone').filter({ hasText: 'reviews-shop-going' }).waitFor();
    const route = page.getByRole('img', { name: /^catalog → reviews-shop-going: .* by route "dynamic-environment-/ });
    await route.dispatchEvent('pointerenter');
    await page.getByRole('status').getByText('of VirtualService shop/reviews').waitFor();
    expect(await page.locator('.timeline li.done').count()).toBe(5);
    await page.locator('.tree').getByText('reviews-shop-going-reviews').waitFor();
    await page.getByRole('button', { name: 'YAML' }).click();
    await page.getByText('kind: DynamicEnv').waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.waitForURL(shop.url);
    await row(page, 'going').waitFor({ state: 'detached' });
  });

  test('trying a request highlights its path, and every rule says why it matched or not', async () => {
    const page = await open('/try');
    await page.getByLabel('URL').fill('http://shop.example/');
    await page.getByLabel('Headers, one per line').fill('x-env: pr-7');
    await page.getByLabel('From where').selectOption('gateway shop/public');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('its calls go on to').waitFor();
    expect(await headline(page)).toContain('reviews-shop-pr-7');
    await page.locator('.node.clone.on-path').waitFor();
    // The URL holds the whole request, so that it can be shared.
    expect(new URL(page.url()).search).toContain('header=x-env%3A+pr-7');
    await page.getByLabel('URL').fill('http://reviews.shop:9080/');
    await page.getByLabel('Headers, one per line').fill('x-env: pr-8');
    await page.getByLabel('From where').selectOption('');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByText('header x-env is "pr-8", not "pr-7"').waitFor();
    await page.getByLabel('URL').fill('ftp://nowhere');
    await page.getByRole('button', { name: 'Try' }).click();
    await page.getByRole('alert').getByText('is no address').waitFor();
  });

  test('an environment is planned in a form, then created', async () => {
    const page = await open('/plan');
    await page.getByLabel('Name').fill('pr-9');
    await page.getByLabel('Deployment').fill('shop/cart');
    await page.getByLabel('Image').fill('cart:9');
    await page.getByText('This makes 3 objects, changes 1').waitFor();
    await page.getByText('cart version shop-pr-9 instead of version shared').first().waitFor();
    await page.getByText('isolated', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Create it' }).click();
    await page.waitForURL('**/environments/shop/pr-9');
    await page.getByText('nobody else in the mesh is affected').waitFor();
    expect(await headline(page)).toContain('Requests with the key pr-9 (x-env or baggage) reach cart:9');
  });

  test('the form reports an error next to its field', async () => {
    const page = await open('/plan');
    await page.getByLabel('Name').fill('pr-9');
    await page.getByLabel('Image').fill('cart:9');
    await page.getByLabel('Deployment').fill('cart');
    await page.getByText('Write it with its namespace, such as shop/cart.').waitFor();
    await page.getByLabel('YAML').fill('a: b: c');
    const lines = page.getByRole('alert').locator('pre');
    await lines.getByText('^').waitFor();
    expect(await lines.innerText()).toMatch(/\n +\^\s*$/);
  });

  test.each(['light', 'dark'] as const)(
    'a phone shows the navigation and the clone in the graph: %s',
    async (scheme) => {
      const page = await open('/environments/shop/pr-7', {
        colorScheme: scheme,
        viewport: { width: 360, height: 780 },
      });
      await page.locator('.node.clone').waitFor();
      await page.getByText('Tap or point at a line').waitFor();
      const within = (selector: string) =>
        page.waitForFunction((each) => {
          const boxes = [...document.querySelectorAll(each)].map((element) => element.getBoundingClientRect());
          return boxes.length > 0 && boxes.every(({ left, right }) => left >= 0 && right <= innerWidth);
        }, selector);
      await within('nav a');
      await within('.node.clone');
      const lines = await page
        .locator('h1 code')
        .first()
        .evaluate((code) => code.getClientRects().length);
      expect(lines).toBe(1);
      const folder = process.env['SCREENSHOTS'];
      if (folder) await page.screenshot({ path: `${folder}/environment-${scheme}-360.png`, fullPage: true });
    },
  );

  test('the error of the API server is shown', async () => {
    const page = await open('/plan');
    await page.getByLabel('YAML').fill('apiVersion: v1\nkind: Pod');
    await page.getByRole('alert').getByText('this is v1 Pod, not riskified.com/v1alpha1 DynamicEnv').waitFor();
    await page
      .getByLabel('YAML')
      .fill(
        'apiVersion: riskified.com/v1alpha1\nkind: DynamicEnv\nmetadata: { name: x, namespace: shop }\nspec: { key: x, subsets: [{ name: cart, namespace: shop, replicas: 0, containers: [] }] }',
      );
    await page.getByRole('alert').getByText("It's illegal to use 0 replicas!").waitFor();
    expect(await page.getByRole('button', { name: /^Create it/ }).count()).toBe(0);
  });

  test('the page can be used with the keyboard alone', async () => {
    const page = await open('/');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('go to environments').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('pr-7');
    await page
      .getByRole('region', { name: 'Environments' })
      .getByRole('status')
      .getByText(/^1 of \d/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/environments/shop/pr-7');
    for (const [key, path] of Object.entries({
      t: '/try',
      p: '/plan',
      c: '/claims',
      m: '/mesh',
      r: '/rules',
      e: '/',
    })) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL(new URL(path, shop.url).href);
    }
    expect(await headline(page)).toContain('ready');
  });

  test('a lost connection is reported, and the page reconnects by itself', async () => {
    const page = await open('/');
    await row(page, 'pr-7').waitFor();
    await shop.stopDashboard();
    await page.getByText(/Not connected for \d+s/).waitFor();
    await row(page, 'pr-7').waitFor();
    await shop.restartDashboard();
    await page.getByText(/Not connected/).waitFor({ state: 'detached' });
    await shop.environment('after', 'ratings');
    await row(page, 'after').getByText('ready').waitFor();
    expect(await page.locator('body.old').count()).toBe(0);
  });

  test('the theme follows the system until the user chooses one, which is remembered', async () => {
    const page = await open('/', { colorScheme: 'dark' });
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    expect(await ground()).not.toBe(dark);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    expect(await ground()).not.toBe(dark);
  });

  test('the first load is smaller than 100 kB', async () => {
    await open('/');
    const files = visits.all.flatMap(({ loaded }) => [...loaded]).filter(([path]) => !path.startsWith('/api/'));
    expect(files.map(([path]) => path.replace(/-[0-9a-f]{12}/, ''))).toEqual(
      expect.arrayContaining(['/', '/assets/page.js', '/assets/style.css']),
    );
    expect(files.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(100_000);
  });

  const SCREENS: readonly (readonly [name: string, path: string, shown: string])[] = [
    ['overview', '/', 'pr-7'],
    ['environment', '/environments/shop/pr-7', 'Life line'],
    ['degraded environment', '/environments/shop/pr-3', 'Life line'],
    ['no such environment', '/environments/shop/nobody', 'There is no environment'],
    ['try', '/try?url=http%3A%2F%2Fshop.example%2F&header=x-env%3A+pr-7&gateway=shop%2Fpublic', 'matched'],
    ['plan', '/plan', 'Nothing is created'],
    ['claims', '/claims', 'my-claim'],
    ['claim', '/claims/shop/my-claim', 'Parts'],
    ['mesh', '/mesh', 'Versions'],
    ['rules', '/rules', 'routing rule'],
    ['nothing', '/nowhere', 'There is nothing at'],
  ];

  describe.each(SCREENS)('%s', (_name, path, shown) => {
    test('is accessible in both themes, and fits a phone', async () => {
      const page = await open(path, { colorScheme: 'light' });
      await page.getByText(shown).first().waitFor();
      const violations = async (): Promise<readonly string[]> =>
        (await new AxeBuilder({ page }).analyze()).violations.map(formatViolation);
      expect(await violations()).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 780 });
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(excess).toBeLessThanOrEqual(0);
      expect(await violations()).toEqual([]);
    });
  });
});

function formatViolation({
  id,
  nodes,
}: {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}): string {
  return `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`;
}
