-- The desk's orders. Dates are part of the data, today's too, so that the demo says the same every day.

CREATE TABLE calendar (today TEXT NOT NULL);

CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  since INTEGER NOT NULL
);

CREATE TABLE products (
  sku TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  category TEXT NOT NULL,
  price_cents INTEGER NOT NULL
);

CREATE TABLE orders (
  id TEXT PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  sku TEXT NOT NULL REFERENCES products (sku),
  ordered_on TEXT NOT NULL,
  delivered_on TEXT
);

CREATE INDEX orders_by_customer ON orders (customer_id);

INSERT INTO calendar VALUES ('2025-04-30');

INSERT INTO customers VALUES
  (1, 'Dana Reyes', 2022),
  (2, 'Miro Okafor', 2019),
  (3, 'Lena Brandt', 2024);

INSERT INTO products VALUES
  ('ESP-480', 'Espresso machine', 'kitchen electronics', 48000),
  ('KET-059', 'Gooseneck kettle', 'kitchen electronics', 5900),
  ('GRD-129', 'Burr grinder', 'kitchen electronics', 12900),
  ('CUP-018', 'Set of four cups', 'tableware', 1800);

INSERT INTO orders VALUES
  ('A-1001', 1, 'ESP-480', '2025-03-10', '2025-03-14'),
  ('A-1002', 1, 'CUP-018', '2025-04-08', '2025-04-11'),
  ('A-1003', 2, 'GRD-129', '2025-04-02', '2025-04-05'),
  ('A-1004', 3, 'KET-059', '2025-02-17', '2025-02-20'),
  ('A-1005', 3, 'CUP-018', '2025-04-28', NULL);
